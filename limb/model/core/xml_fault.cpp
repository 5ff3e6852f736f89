#include "limb/model/core/xml_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "limb/model/core/xml.hpp"

namespace limb {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<XmlFault> run() {
    while (!fault_ && (at_ = text_.find('<', at_)) != text_.npos) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("<!--")) {
        skip_past("-->", "a comment");
      } else if (rest.starts_with("<![CDATA[")) {
        skip_past("]]>", "a CDATA section");
      } else if (rest.starts_with("<?")) {
        skip_past("?>", "a declaration");
      } else if (rest.starts_with("<!")) {
        skip_past(rest.substr(0, rest.find('>')).find('[') != rest.npos ? "]>" : ">",
                  "a declaration");
      } else if (rest.starts_with("</")) {
        close();
      } else {
        open();
      }
    }
    if (!fault_ && !elements_.empty()) {
      const auto& [name, start] = elements_.back();
      at_ = text_.size();
      fail(fmt::format("the file ends inside <{}> of line {}, it may be cut off", name,
                       line_of(start)));
    }
    return fault_;
  }

 private:
  struct Element {
    std::string name;
    std::size_t start;
  };

  std::ptrdiff_t line_of(std::size_t offset) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text_.size()));
    return 1 + std::count(text_.begin(), end, '\n');
  }
  void fail(std::string what) { fault_ = XmlFault{line_of(at_), std::move(what)}; }
  void fail_at_end(std::string_view inside) {
    at_ = text_.size();
    fail(fmt::format("the file ends inside {}, it may be cut off", inside));
  }
  void skip_past(std::string_view end, std::string_view inside) {
    const std::size_t found = text_.find(end, at_);
    if (found == text_.npos) return fail_at_end(inside);
    at_ = found + end.size();
  }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }
  /// Up to one of the characters or the end.
  std::string_view take_until(std::string_view stops) {
    const std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }

  void close() {
    const std::size_t start = at_;
    at_ += 2;
    const std::string name = shorten(take_until(" \t\r\n<>"));
    skip_spaces();
    if (at_ == text_.size()) return fail_at_end(fmt::format("</{}", name));
    const bool ends = text_[at_] == '>';
    at_ = start;
    if (!ends) return fail(fmt::format("</{} is not followed by >", name));
    if (elements_.empty()) return fail(fmt::format("</{}> closes no element", name));
    if (elements_.back().name != name) {
      return fail(fmt::format("</{}> does not close <{}> of line {}", name, elements_.back().name,
                              line_of(elements_.back().start)));
    }
    elements_.pop_back();
    at_ = text_.find('>', at_) + 1;
  }

  void open() {
    const std::size_t start = at_++;
    const std::string name = shorten(take_until(" \t\r\n/><"));
    if (name.empty()) {
      if (at_ == text_.size()) return fail_at_end("a tag");
      at_ = start;
      return fail("'<' is not followed by the name of an element (in a text it is written &lt;)");
    }
    while (!fault_) {
      skip_spaces();
      const std::string_view rest = text_.substr(at_);
      if (rest.empty() || rest == "/") return fail_at_end(fmt::format("the tag <{}>", name));
      if (text_[at_] == '>') {
        ++at_;
        elements_.push_back({name, start});
        return;
      }
      if (rest.starts_with("/>")) {
        at_ += 2;
        return;
      }
      attribute(name);
    }
  }

  void attribute(const std::string& element) {
    const std::size_t start = at_;
    const std::string name = shorten(take_until(" \t\r\n=/><\"'"));
    if (name.empty()) {
      return fail(fmt::format("<{}> has '{}' where an attribute or > is expected", element,
                              text_.substr(at_, 1)));
    }
    skip_spaces();
    const std::string title = fmt::format("attribute '{}' of <{}>", name, element);
    if (at_ == text_.size()) return fail_at_end(fmt::format("the tag <{}>", element));
    if (text_[at_] != '=') {
      at_ = start;
      return fail(title + " has no value");
    }
    ++at_;
    skip_spaces();
    if (at_ == text_.size()) return fail_at_end(fmt::format("the tag <{}>", element));
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'') return fail("the value of " + title + " is not in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) {
      const std::size_t line = text_.find('\n', at_);
      if (line != text_.npos) return fail("the value of " + title + " has no closing quote");
      return fail_at_end("the value of " + title);
    }
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Element> elements_;
  std::optional<XmlFault> fault_;
};

}  // namespace

std::optional<XmlFault> find_xml_fault(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace limb
