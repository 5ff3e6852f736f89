#include "limb/model/core/xml.hpp"

#include <gtest/gtest.h>

#include <string>

#include "limb/base/error.hpp"

namespace limb {
namespace {

std::string message(const std::string& text) {
  try {
    const XmlFile file("read", text, "robot.xml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(XmlFile, ErrorsNameFileAndLine) {
  EXPECT_EQ(message("<a>\n<b>\n</a>"),
            "read: robot.xml:2: not well-formed XML (XML_ERROR_MISMATCHED_ELEMENT)");
  EXPECT_EQ(message(""), "read: robot.xml:1: not well-formed XML (no XML element in the file)");
  EXPECT_EQ(message("<!-- nothing -->"),
            "read: robot.xml:1: not well-formed XML (no XML element in the file)");
  EXPECT_EQ(message(std::string("<a>\0</a>", 8)),
            "read: robot.xml: is a binary file, expected XML text");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_EQ(message(deep).substr(0, 60),
            "read: robot.xml:1: not well-formed XML (elements are nested ");
}

// Each of these would cost the parser hours or gigabytes.
TEST(XmlFile, RejectsTooManyAttributesAndTags) {
  std::string many = "<!-- <a b='1' -->\n<![CDATA[ = ]]>\n<r x='>=' ";
  std::string plain = many;
  for (int i = 0; i < 100000; ++i) many.append("a").append(std::to_string(i)).append("='=' ");
  for (int i = 0; i < 999; ++i) plain.append("a").append(std::to_string(i)).append("='=' ");
  EXPECT_EQ(message(many + "/>"), "read: robot.xml:3: an element has more than 1000 attributes");
  EXPECT_EQ(message(plain.substr(plain.find("<r")) + "/>"), "no error");
  EXPECT_EQ(message("<!--" + std::string(5000, '=') + "--><r>" + std::string(5000, '=') + "</r>"),
            "no error");
  std::string tags = "<r>";
  for (int i = 0; i < 4'000'000; ++i) tags += "<a/>";
  EXPECT_EQ(message(tags + "</r>"),
            "read: robot.xml: has more than 4000000 tags, the limit for a robot description");
}

// The "billion laughs" attack defines entities in terms of entities; they are not expanded.
TEST(XmlFile, DoesNotExpandEntities) {
  const XmlFile file("read",
                     "<!DOCTYPE r [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n"
                     "<r name='&b;'/>",
                     "bomb.xml");
  EXPECT_EQ(XmlReader::text(file.root(), "name").value_or(""), "&b;");
}

// The parser's time grows with the square of an element's attributes.
TEST(XmlFile, RejectsEndlessAttributes) {
  std::string attributes;
  for (int i = 0; i < 300000; ++i) attributes += " a" + std::to_string(i) + "=''";
  EXPECT_EQ(message("<!-- < = --><a b='<=>'>\n<c" + attributes + "/></a>"),
            "read: robot.xml:2: an element has more than 1000 attributes");
}

TEST(XmlReader, CollectsEveryMistakeWithItsLine) {
  const XmlFile file("read",
                     "<robot name='r'>\n"
                     "  <link name='a' mas='3' mass='1,5kg'/>\n"
                     "  <lnik/>\n"
                     "</robot>",
                     "r.xml");
  Diagnostics found;
  XmlReader reader(file, found);
  const auto& link = *file.root().FirstChildElement();
  reader.expect_children(file.root(), {"link", "joint"});
  reader.expect_attributes(link, {"name", "mass"});
  EXPECT_FALSE(reader.number(link, "mass"));
  EXPECT_EQ(reader.required(link, "type"), "");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].text(),
            "r.xml:3: note: robot 'r': unknown element 'lnik' (closest: 'link') [element-unknown]");
  EXPECT_EQ(found[1].text(),
            "r.xml:2: note: link 'a': unknown attribute 'mas' (closest: 'mass') "
            "[attribute-unknown]");
  EXPECT_EQ(found[2].text(),
            "r.xml:2: error: link 'a': attribute 'mass' is '1,5kg', expected a finite number "
            "[attribute-not-a-number]");
  EXPECT_EQ(found[3].text(),
            "r.xml:2: error: link 'a' has no attribute 'type' [attribute-missing]");
  EXPECT_TRUE(has_errors(found));
}

}  // namespace
}  // namespace limb
