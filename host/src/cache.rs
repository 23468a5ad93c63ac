//! The user's cache folder: what may be deleted at any time.

use std::path::PathBuf;

/// `$XDG_CACHE_HOME/meniscus`, or the same in `~/.cache`; `None` where the user has neither.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|p| p.is_absolute());
    Some(base.or_else(|| set("HOME").map(|h| h.join(".cache")))?.join("meniscus"))
}
