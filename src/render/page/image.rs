//! Images of messages. Only pictures made of points are shown, and only from the page itself: an SVG is a document that may
//! do things, and an address of the network is not asked.

use super::escape;
use crate::json::{Value, View};
use crate::render::words::grouped;
use crate::transcript::blobs::REFERENCE_PREFIX;
use std::borrow::Cow;
use std::fmt::Write;

/// The types that are shown.
const RASTER: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/// How what gjc puts in the place of a blob that it does not find begins.
const LOST: &[u8] = b"[Session resident ";

/// Appends the image of a block: `{"type":"image","data","mimeType"}`, or one with `image_url`.
pub fn figure(out: &mut String, block: &Value) {
    let url = block.get("image_url").and_then(|url| url.as_str().or_else(|| url.str_member("url")));
    let (kind, data): (Cow<'_, [u8]>, Cow<'_, [u8]>) = match &url {
        Some(url) => match data_url(url) {
            Some((kind, data)) => (kind.into(), data.into()),
            None => return not_shown(out, "its address is not part of the page", url),
        },
        None => (block.str_member("mimeType").unwrap_or_default(), block.str_member("data").unwrap_or_default()),
    };
    let raster = RASTER.into_iter().find(|raster| kind.eq_ignore_ascii_case(raster.as_bytes()));
    if data.starts_with(REFERENCE_PREFIX.as_bytes()) {
        return not_shown(out, "its blob was not looked up: name the store with --blobs", &data);
    }
    match raster {
        _ if data.is_empty() => not_shown(out, "it holds no data", b""),
        None => not_shown(out, "only PNG, JPEG, GIF, WebP, AVIF and BMP are", &kind),
        Some(_) if data.starts_with(LOST) => not_shown(out, "its blob was not found (--blobs names the store)", &data),
        Some(_) if !is_base64(&data) => not_shown(out, "its data is no base64", &data),
        Some(raster) => {
            let _ = write!(out, "<figure><img alt=\"image\" loading=\"lazy\" decoding=\"async\" src=\"data:{raster};base64,");
            // Nothing but letters of base64.
            out.push_str(&String::from_utf8_lossy(&data));
            let name = raster.trim_start_matches("image/");
            let _ = writeln!(out, "\"><figcaption>{name}, {} bytes</figcaption></figure>", grouped(data.len() as u64 / 4 * 3));
        }
    }
}

fn not_shown(out: &mut String, why: &str, what: &[u8]) {
    out.push_str("<p class=\"unshown\">An image is not shown: ");
    out.push_str(why);
    if !what.is_empty() {
        out.push_str(" <code>");
        escape::text(out, &crate::render::entry::glimpse(what, 100));
        out.push_str("</code>");
    }
    out.push_str("</p>\n");
}

/// Type and data of a data URL in base64.
fn data_url(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = url.strip_prefix(b"data:")?;
    let comma = memchr::memchr(b',', rest)?;
    let (head, data) = rest.split_at(comma);
    Some((head.strip_suffix(b";base64")?, data.get(1..)?))
}

fn is_base64(data: &[u8]) -> bool {
    let digits = data.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    data.len() - digits <= 2 && data.iter().take(digits).all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(block: &str) -> String {
        let mut out = String::new();
        figure(&mut out, &Value::parse(block.as_bytes()).unwrap());
        out
    }

    #[test]
    fn pictures_of_points_are_shown() {
        for block in [
            r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#,
            r#"{"type":"image_url","image_url":"data:image/png;base64,iVBORw0KGgo="}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/PNG;base64,iVBORw0KGgo="}}"#,
        ] {
            assert!(shown(block).contains(r#"src="data:image/png;base64,iVBORw0KGgo=""#), "{block}: {}", shown(block));
        }
    }

    #[test]
    fn a_lost_blob_is_called_lost_and_no_bad_data() {
        let data = |data: &str| shown(&format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#));
        assert!(
            data("[Session resident imageData blob missing: sha256:00; original content unavailable]").contains("its blob was not found")
        );
        assert!(data("[Session]").contains("its data is no base64"));
    }

    #[test]
    fn anything_else_is_named_and_not_shown() {
        for block in [
            r#"{"type":"image","data":"PHN2Zy8+","mimeType":"image/svg+xml"}"#,
            r#"{"type":"image","data":"PHN2Zy8+","mimeType":"text/html"}"#,
            r#"{"type":"image","data":"x\" onerror=\"alert(1)","mimeType":"image/png"}"#,
            r#"{"type":"image","data":"AAAA","mimeType":"image/png\" onload=\"x"}"#,
            r#"{"type":"image_url","image_url":{"url":"https://evil.example/x.png"}}"#,
            r#"{"type":"image_url","image_url":"data:image/svg+xml;base64,PHN2Zy8+"}"#,
            r#"{"type":"image_url","image_url":"data:image/png,<svg>"}"#,
            r#"{"type":"image","data":"blob:sha256:00","mimeType":"image/png"}"#,
            r#"{"type":"image","data":"[Session resident imageData blob missing]","mimeType":"image/png"}"#,
            r#"{"type":"image"}"#,
        ] {
            let shown = shown(block);
            assert!(!shown.contains("<img") && shown.starts_with("<p class=\"unshown\">"), "{block}: {shown}");
            assert!(!shown.contains("\" on"), "{shown}");
        }
    }
}
