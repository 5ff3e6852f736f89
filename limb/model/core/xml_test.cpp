#include "limb/model/core/xml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "limb/base/error.hpp"
#include "limb/model/core/xml_fault.hpp"

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

TEST(XmlFile, ErrorsNameFileLineAndFault) {
  const std::pair<const char*, const char*> faults[] = {
      {"<a>\n<b>\n</a>", "3: </a> does not close <b> of line 2"},
      {"<a>\n<b x='1'>\n<c/>", "3: the file ends inside <b> of line 2, it may be cut off"},
      {"<a>\n<b x='1' y='2",
       "2: the file ends inside the value of attribute 'y' of <b>, it may be cut off"},
      {"<a>\n<b x='1' y", "2: the file ends inside the tag <b>, it may be cut off"},
      {"<a>\n<b x=", "2: the file ends inside the tag <b>, it may be cut off"},
      {"<a><b ", "1: the file ends inside the tag <b>, it may be cut off"},
      {"<a></a", "1: the file ends inside </a, it may be cut off"},
      {"<a>\n<!-- b", "2: the file ends inside a comment, it may be cut off"},
      {"<a><![CDATA[ b", "1: the file ends inside a CDATA section, it may be cut off"},
      {"<?xml version='1.0'", "1: the file ends inside a declaration, it may be cut off"},
      {"<a>\n<b x=1/></a>", "2: the value of attribute 'x' of <b> is not in quotes"},
      {"<a>\n<b x/></a>", "2: attribute 'x' of <b> has no value"},
      {"<a x='1\n></a>\n", "1: the value of attribute 'x' of <a> has no closing quote"},
      {"<a>\n1 < 2</a>",
       "2: '<' is not followed by the name of an element (in a text it is written &lt;)"},
      {"<a \"x\"></a>", "1: <a> has '\"' where an attribute or > is expected"},
      {"<!-- nothing -->", "1: it has no element"},
  };
  for (const auto& [text, expected] : faults) {
    const std::string_view line(expected, 1), fault = std::string_view(expected).substr(3);
    EXPECT_EQ(message(text),
              fmt::format("read: robot.xml:{}: not well-formed XML: {}", line, fault));
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_EQ(message(deep),
            "read: robot.xml:1: not well-formed XML: elements are nested too deeply");
}

TEST(XmlFile, SaysWhatAFileIsInstead) {
  EXPECT_EQ(message(""), "read: robot.xml: is empty");
  EXPECT_EQ(message(" \n"), "read: robot.xml: is empty");
  EXPECT_EQ(message("hello"), "read: robot.xml: is not XML: it has no element");
  EXPECT_EQ(message(std::string("<a>\0</a>", 8)),
            "read: robot.xml: is a binary file, expected XML text");
  EXPECT_EQ(message("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"),
            "read: robot.xml: is a Git LFS pointer instead of the file (run: git lfs pull)");
  EXPECT_EQ(message("\n<!DOCTYPE HTML>\n<html><body></body></html>"),
            "read: robot.xml: is a web page instead of the file (download the raw file)");
  EXPECT_EQ(message("<html><body></html>"),
            "read: robot.xml: is a web page instead of the file (download the raw file)");
  EXPECT_EQ(message("\xFF\xFE<\x01"), "read: robot.xml: is UTF-16 text, expected UTF-8");
}

// Where the parser finds a fault, so does the explanation: every cut of a file has a reason.
TEST(XmlFault, ExplainsEveryCut) {
  const std::string whole =
      "<?xml version='1.0'?>\n<!-- c -->\n<r a=\"1\" b = '2'>\n <s/>text<t>\n</t></r>";
  EXPECT_FALSE(find_xml_fault(whole));
  EXPECT_EQ(find_xml_fault("<a/>\n</b>").value().text, "</b> closes no element");
  for (std::size_t size = whole.find("<r") + 1; size < whole.size(); ++size) {
    const auto fault = find_xml_fault(whole.substr(0, size));
    ASSERT_TRUE(fault) << size;
    EXPECT_NE(fault->text.find("the file ends inside"), std::string::npos) << fault->text;
    EXPECT_NE(message(whole.substr(0, size)), "no error");
  }
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
