//! Markdown of messages into HTML. The parser is a crate; the writing is done here, because the text is hostile: raw HTML is
//! shown as text, an address is a link only when it is a web or mail address, and no image is ever loaded.

use super::escape;
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Containers within containers that are drawn; what is deeper stands in the innermost of them. Browsers stop at 512, and a
/// text of a thousand `>` is no quotation.
const DEEPEST: usize = 24;

/// Longest text that is read as Markdown; a longer one is a log, and is shown as it is.
const LONGEST: usize = 256 * 1024;

/// How a line end inside a paragraph is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// As typed: the line ends.
    Kept,
    /// As in Markdown: a space.
    Folded,
}

/// Appends a text.
pub fn write(out: &mut String, text: &str, breaks: Breaks) {
    if text.len() > LONGEST {
        out.push_str("<pre>");
        escape::text(out, text);
        out.push_str("</pre>");
        return;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { out, breaks, open: Vec::new(), columns: Vec::new(), column: 0, in_head: false };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
}

struct Writer<'o, 't> {
    out: &'o mut String,
    breaks: Breaks,
    /// For each open container how its element ends; nothing for one that was not drawn.
    open: Vec<Ending<'t>>,
    /// Alignment of the columns of the table.
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

/// How an open element ends.
enum Ending<'t> {
    /// With this text.
    Text(&'static str),
    /// With the address that it stands for: a link that is none.
    Address(CowStr<'t>),
    /// It was not drawn.
    Nothing,
}

impl<'t> Writer<'_, 't> {
    fn event(&mut self, event: Event<'t>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            // Raw HTML is text.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                escape::text(self.out, &text);
            }
            Event::Code(text) => {
                self.out.push_str("<code>");
                escape::text(self.out, &text);
                self.out.push_str("</code>");
            }
            Event::FootnoteReference(text) => escape::text(self.out, &text),
            Event::SoftBreak if self.breaks == Breaks::Folded => self.out.push('\n'),
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => {
                self.out.push_str(if done { "<span class=\"task\">☑</span> " } else { "<span class=\"task\">☐</span> " })
            }
        }
    }

    fn open(&mut self, begin: &str, end: &'static str) {
        let drawn = self.open.len() < DEEPEST;
        if drawn {
            self.out.push_str(begin);
        }
        self.open.push(if drawn { Ending::Text(end) } else { Ending::Nothing });
    }

    fn start(&mut self, tag: Tag<'t>) {
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            // The page has headings of its own: those of a text stand below them.
            Tag::Heading { level, .. } => match level {
                HeadingLevel::H1 | HeadingLevel::H2 => self.open("<h4>", "</h4>\n"),
                HeadingLevel::H3 => self.open("<h5>", "</h5>\n"),
                _ => self.open("<h6>", "</h6>\n"),
            },
            Tag::BlockQuote(_) => self.open("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                if !language.is_empty() && self.open.len() < DEEPEST {
                    self.out.push_str("<pre class=\"code\" data-language=\"");
                    escape::text(self.out, &language.chars().take(24).collect::<String>());
                    self.out.push_str("\">");
                    self.open.push(Ending::Text("</pre>\n"));
                } else {
                    self.open("<pre class=\"code\">", "</pre>\n");
                }
            }
            Tag::HtmlBlock => self.open("<p class=\"html\">", "</p>\n"),
            Tag::List(None) => self.open("<ul>\n", "</ul>\n"),
            Tag::List(Some(1)) => self.open("<ol>\n", "</ol>\n"),
            Tag::List(Some(first)) => self.open(&format!("<ol start=\"{first}\">\n"), "</ol>\n"),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.open("<div class=\"table\"><table>\n", "</table></div>\n");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.column = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableRow => {
                self.column = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => {
                let right = matches!(self.columns.get(self.column), Some(Alignment::Right));
                self.column += 1;
                match (self.in_head, right) {
                    (true, false) => self.open("<th>", "</th>"),
                    (true, true) => self.open("<th class=\"right\">", "</th>"),
                    (false, false) => self.open("<td>", "</td>"),
                    (false, true) => self.open("<td class=\"right\">", "</td>"),
                }
            }
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<s>", "</s>"),
            Tag::Link { dest_url, .. } => self.link(dest_url),
            // An image of the network is not loaded; its description and its address are text.
            Tag::Image { dest_url, .. } => {
                self.out.push_str("<span class=\"image\">");
                self.open.push(Ending::Address(dest_url));
            }
            _ => self.open.push(Ending::Nothing),
        }
    }

    fn link(&mut self, address: CowStr<'t>) {
        if is_web_or_mail(&address) && self.open.len() < DEEPEST {
            self.out.push_str("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
            escape::text(self.out, &address);
            self.out.push_str("\">");
            self.open.push(Ending::Text("</a>"));
        } else {
            self.out.push_str("<span class=\"address\">");
            self.open.push(Ending::Address(address));
        }
    }

    fn end(&mut self, end: TagEnd) {
        if end == TagEnd::TableHead {
            self.in_head = false;
        }
        match self.open.pop() {
            Some(Ending::Text(text)) => self.out.push_str(text),
            Some(Ending::Address(address)) => {
                self.out.push_str(" <code>");
                // A data URL would be pages of letters.
                escape::text(self.out, &shortened(&address));
                self.out.push_str("</code></span>");
            }
            Some(Ending::Nothing) | None => {}
        }
    }
}

/// The beginning of an address.
fn shortened(address: &str) -> String {
    let mut letters = address.chars();
    let head: String = letters.by_ref().take(120).collect();
    if letters.as_str().is_empty() { head } else { head + "…" }
}

/// Whether an address may be followed: `http:`, `https:` and `mailto:` only, spelled without tricks.
pub fn is_web_or_mail(address: &str) -> bool {
    let has_scheme = |scheme: &str| address.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    ["http://", "https://", "mailto:"].into_iter().any(has_scheme) && !address.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = String::new();
        write(&mut out, text, Breaks::Folded);
        out
    }

    #[test]
    fn the_usual_marks() {
        assert_eq!(html("# T\n\n*a* **b** ~~c~~ `d<e`"), "<h4>T</h4>\n<p><em>a</em> <strong>b</strong> <s>c</s> <code>d&lt;e</code></p>\n");
        assert_eq!(html("- [x] a\n- b\n"), "<ul>\n<li><span class=\"task\">☑</span> a</li>\n<li>b</li>\n</ul>\n");
        assert_eq!(html("3. a"), "<ol start=\"3\">\n<li>a</li>\n</ol>\n");
        assert_eq!(html("```rust x\na < b\n```"), "<pre class=\"code\" data-language=\"rust\">a &lt; b\n</pre>\n");
        let table = "|a|b|\n|-|-:|\n|1|2|\n";
        let wanted = "<div class=\"table\"><table>\n<tr><th>a</th><th class=\"right\">b</th></tr>\n<tr><td>1</td><td class=\"right\">2</td></tr>\n</table></div>\n";
        assert_eq!(html(table), wanted);
    }

    #[test]
    fn line_ends_of_people_are_kept() {
        let mut out = String::new();
        write(&mut out, "a\nb", Breaks::Kept);
        assert_eq!(out, "<p>a<br>\nb</p>\n");
        assert_eq!(html("a\nb"), "<p>a\nb</p>\n");
    }

    #[test]
    fn raw_html_is_text() {
        assert_eq!(html("a <img src=x onerror=alert(1)> b"), "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n");
        let block = html("<script>\nalert(1)\n</script>\n");
        assert_eq!(block, "<p class=\"html\">&lt;script&gt;\nalert(1)\n&lt;/script&gt;\n</p>\n");
    }

    #[test]
    fn only_web_and_mail_addresses_are_links() {
        assert_eq!(
            html("[a](https://x.y/?a=\"&b)"),
            "<p><a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"https://x.y/?a=&quot;&amp;b\">a</a></p>\n"
        );
        assert!(html("<mailto:a@b.c>").contains("href=\"mailto:a@b.c\""));
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//evil.example",
            "java&#x09;script:alert(1)",
            "blob:x",
            "ws://x",
        ] {
            let html = html(&format!("[a]({address}) <{address}>"));
            assert!(!html.contains("href"), "{html}");
        }
        assert!(!is_web_or_mail("https://a\tb"));
    }

    #[test]
    fn no_image_is_loaded() {
        assert_eq!(html("![alt](https://x.y/z.png)"), "<p><span class=\"image\">alt <code>https://x.y/z.png</code></span></p>\n");
        assert!(!html("![a](data:image/svg+xml,<svg onload=alert(1)>)").contains("<img"));
    }

    #[test]
    fn depth_is_bounded_and_every_element_is_closed() {
        let html = html(&format!("{} deep", ">".repeat(5_000)));
        assert!(html.matches("<blockquote>").count() <= DEEPEST);
        assert_eq!(html.matches("<blockquote>").count(), html.matches("</blockquote>").count());
        assert!(html.contains("deep"));
    }

    #[test]
    fn a_very_long_text_is_shown_as_it_is() {
        let html = html(&"*a* ".repeat(LONGEST));
        assert!(html.starts_with("<pre>*a* *a*"));
    }
}
