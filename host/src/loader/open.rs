//! Opens a plugin. Nothing of it is trusted before its size, major version and layout hash are checked.

use super::brief::{NAME_LETTERS, brief};
use super::describe::describe;
use super::discover::Found;
use super::library_file::LibraryFile;
use crate::node::NodeType;
use crate::process::board::enter_for;
use crate::process::limits;
use crate::text::{SENTENCE, one_line};
use libloading::Library;
use meniscus_abi as abi;
use std::mem::{ManuallyDrop, offset_of};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a plugin is doing while it is opened, for crash messages.
pub(crate) const OPENING: &str = "while it was opened";

/// A file that was not taken, and why.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The file.
    pub path: PathBuf,
    /// One sentence.
    pub reason: String,
}

/// Begins the reason of a file for which there is no memory.
const NO_ROOM: &str = "there is no room for it";

impl Refusal {
    /// The file may be sound; this process may not have the memory for it.
    pub(crate) fn is_for_want_of_memory(&self) -> bool {
        self.reason.starts_with(NO_ROOM)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "plugin {}: {}", self.path.display(), self.reason)
    }
}

/// An opened plugin.
#[derive(Debug)]
pub struct Plugin {
    /// Its file.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Who made it.
    pub vendor: String,
    /// Major and minor of the ABI it was built for.
    pub abi: (u32, u32),
    /// Its node types.
    pub types: Vec<Arc<NodeType>>,
    /// Node types left out because this host does not understand them, one sentence each.
    pub left_out: Vec<String>,
    pub(crate) table: abi::Plugin,
    // Never closed: threads of the plugin's own may still run its code.
    _library: ManuallyDrop<Library>,
}

impl Plugin {
    /// Its name and file, as sentences name it.
    pub(crate) fn shown(&self) -> String {
        format!("plugin `{}`, {}", self.name, self.path.display())
    }

    pub(super) fn open(file: &Found, number: usize) -> Result<Self, Refusal> {
        Self::open_and(file, number, || ())
    }

    /// Opens a plugin; `opened` is called when its constructors have run.
    pub(super) fn open_and(file: &Found, number: usize, opened: impl FnOnce()) -> Result<Self, Refusal> {
        let refuse = |reason: String| Refusal { path: file.path.clone(), reason };
        check_file(&file.path).map_err(refuse)?;
        let subject = super::scan::subject(&file.path);
        let _noted = enter_for(&subject, OPENING, "", super::scan::patience());
        // SAFETY: opening a library runs its constructors; the file names the plugin symbol, so someone built
        // it to be opened as a plugin.
        let library = unsafe { Library::new(&file.path) }.map_err(|e| refuse(unopened(&e)))?;
        let library = ManuallyDrop::new(library);
        opened();
        // SAFETY: the symbol is data; only its address is taken here.
        let symbol = unsafe { library.get::<*const abi::Plugin>(abi::SYMBOL.to_bytes_with_nul()) };
        let address = *symbol.map_err(|_| refuse("it exports no symbol `mns_plugin`".into()))?;
        if address.is_null() {
            return Err(refuse("its symbol `mns_plugin` is null".into()));
        }
        // SAFETY: `address` is that of the exported table, which lives as long as the library.
        let table = unsafe { check_table(address) }.map_err(refuse)?;
        // SAFETY: size, major and layout hash fit, so the strings and descriptors are as the header says.
        let (types, left_out, [name, version, vendor]) = unsafe {
            let (types, left_out) = describe(&table, number).map_err(refuse)?;
            let text = |s| brief(abi::text(s).unwrap_or(""), NAME_LETTERS);
            (types, left_out, [text(table.name), text(table.version), text(table.vendor)])
        };
        let name = if name.is_empty() {
            file.path.file_stem().unwrap_or_default().to_string_lossy().into()
        } else {
            name
        };
        crate::process::note_module(address.cast(), &format!("plugin `{name}`, {}", file.path.display()));
        let abi = (table.abi_major, table.abi_minor);
        let types = types.into_iter().map(|t| Arc::new(NodeType { plugin: name.clone(), ..t })).collect();
        Ok(Self {
            path: file.path.clone(),
            name,
            version,
            vendor,
            abi,
            types,
            left_out,
            table,
            _library: library,
        })
    }
}

/// Why the system's loader did not take a file.
fn unopened(e: &libloading::Error) -> String {
    let said = std::error::Error::source(e).map_or_else(|| e.to_string(), ToString::to_string);
    let is_for_want = ["failed to map segment", "annot allocate memory"].iter().any(|w| said.contains(w));
    match limits::address_space().filter(|_| is_for_want) {
        Some(limit) => format!("{NO_ROOM}, {limit}: raise that limit"),
        None => format!("it cannot be opened as a shared library: {}", one_line(&said, SENTENCE)),
    }
}

/// Refuses a file that is no shared library before the system's loader opens it.
fn check_file(path: &Path) -> Result<(), String> {
    let library = LibraryFile::look(path).map_err(|e| format!("it cannot be read: {e}"))?;
    if !library.is_whole {
        return Err("the file ends too early: it was not copied as a whole".into());
    }
    if !library.names_symbol {
        return Err("it exports no symbol `mns_plugin`: this is no Meniscus plugin".into());
    }
    Ok(())
}

/// The table, once its size, major and layout hash fit.
///
/// # Safety
/// `address` leads to the exported table of an open library.
unsafe fn check_table(address: *const abi::Plugin) -> Result<abi::Plugin, String> {
    // SAFETY: `size` and `abi_major` stand first in every version of the table, past and future.
    let (size, major) =
        unsafe { (address.cast::<u32>().read_unaligned(), address.cast::<u32>().add(1).read_unaligned()) };
    let (header, least) = (offset_of!(abi::Plugin, name) as u32, offset_of!(abi::Plugin, suggest_dt) as u32);
    if size < header || size > 1 << 16 {
        return Err(format!(
            "its table says it is {size} bytes long: this is no Meniscus plugin, or a broken one"
        ));
    }
    if major != abi::ABI_MAJOR {
        let who =
            if major > abi::ABI_MAJOR { "a newer Meniscus is needed" } else { "the plugin must be rebuilt" };
        return Err(format!("it was built for ABI {major}, this host speaks ABI {}: {who}", abi::ABI_MAJOR));
    }
    // SAFETY: `size` bytes are there, and at least the header's.
    let table = unsafe { abi::read(address) }.ok_or("its table is null")?;
    if table.layout_hash != abi::LAYOUT_HASH {
        return Err(format!(
            "its structs are laid out differently (layout hash {:016x}, expected {:016x}): it was built with \
             packing or with a changed header",
            table.layout_hash,
            abi::LAYOUT_HASH
        ));
    }
    if size < least || table.run.is_none() || table.create.is_none() || table.destroy.is_none() {
        return Err("its table lacks create, destroy or run".into());
    }
    Ok(table)
}
