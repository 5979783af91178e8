//! The area *replacement receipt* of spec 05: receipts of interrupted replacements in one directory (spec 02 §8).

pub mod codes;

use super::quota;
use super::run::Site;
use crate::agent::predict::{ReceiptStanding, judge_receipt};
use crate::agent::replacement_receipt::{NAME_LIMIT, Ownership, ownership};
use crate::agent::residue;
use crate::agent::walk::Listing;
use crate::finding::{Difference, Finding, Sink};
use crate::fsys::Kind;
use crate::fsys::host::Liveness;

/// Judges the replacement receipts of a directory that holds transcripts. More names than gjc takes are a capacity, and then
/// no single one is blamed. Further links and special files have codes of their own.
pub fn check(site: &Site<'_>, directory: &Listing, host: &dyn Liveness, sink: &mut dyn Sink) {
    let receipts: Vec<_> = directory.objects.iter().filter(|object| residue::is_replacement_receipt(object.bytes())).collect();
    let remnants = directory.objects.iter().filter(|object| residue::is_reapable_prefix(object.bytes())).count() as u64;
    // Whether 0.15 counts scrubbed remnants too is UNVERIFIED: users met the limit with them, so they are counted there.
    let used = receipts.len() as u64 + if Difference::RemnantsAreNoReceipts.in_effect(site.release) { 0 } else { remnants };
    if used > 0 {
        quota::REPLACEMENT_RECEIPTS.read(site.place(&directory.path), used, sink);
    }
    if used > NAME_LIMIT {
        let message =
            format!("{used} replacement receipts and remnants in one directory; gjc takes {NAME_LIMIT}. Nothing in it is damaged by that.");
        sink.push(Finding::new(&codes::MANAGED_REPLACE_CLEANUP_RECEIPT_LIMIT_EXCEEDED, site.place(&directory.path), message));
        return;
    }
    for object in receipts {
        if object.meta.kind == Kind::Symlink {
            super::security::reparse_point(site, &directory.path_of(object), object.meta.kind, sink);
            continue;
        }
        if object.meta.kind.is_special() || (object.meta.kind == Kind::File && object.meta.nlink > 1) {
            continue;
        }
        let place = site.place(&directory.path_of(object));
        let standing = match judge_receipt(site.fs, site.release, &site.recorded(&directory.path), &directory.path, object.bytes()) {
            Ok(standing) => standing,
            Err(why) => {
                let message = format!("gjc does not accept this receipt: {why}.");
                sink.push(Finding::new(&codes::MANAGED_REPLACE_CLEANUP_RECEIPT_INVALID, place, message));
                continue;
            }
        };
        match standing {
            ReceiptStanding::Gone => {
                super::operational::changed(site, &directory.path_of(object), "it vanished while the directory was read", sink)
            }
            ReceiptStanding::Recoverable => {
                let message = "An empty receipt whose retired twin has the identity that the name records.";
                sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_RECOVERABLE, place, message));
            }
            ReceiptStanding::Canonical => {
                let message = "A canonical receipt under its own inode: the next write retires it.";
                sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_PENDING, place, message));
            }
            ReceiptStanding::V1 => {
                let message = "A version-1 receipt (unowned): the next write resolves it.";
                sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_PENDING, place, message));
            }
            ReceiptStanding::Pending(receipt) => {
                let owner = ownership(receipt.publisher.as_ref(), host);
                if owner == Ownership::ForeignHost {
                    let message = "Its publisher ran on another host: on this one it stays owned for ever.";
                    sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_FOREIGN_HOST, place, message));
                    continue;
                }
                let message = format!("A valid pending receipt ({}).", owner.word());
                sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_PENDING, place.clone(), message));
                if receipt.publisher.is_none() && Difference::ReceiptPublisher.in_effect(site.release) {
                    let message = "It names no publisher: an older gjc writes here too.";
                    sink.push(Finding::new(&codes::REPLACEMENT_RECEIPT_NO_PUBLISHER, place, message));
                }
            }
        }
    }
}
