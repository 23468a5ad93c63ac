//! Lists the CUDA devices of this machine.

use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int};

/// The driver's library.
const DRIVER: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
/// Compute capability that the kernels need.
const CAPABILITY: (c_int, c_int) = (8, 0);
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY_ATTRIBUTES: [c_int; 2] = [75, 76];

/// What a solve with `--device cuda` or `auto` will use, in words.
pub(crate) fn found() -> String {
    match devices() {
        Ok(names) => format!("cuda: {}", names.join(", ")),
        Err(why) => format!("no cuda: {why}"),
    }
}

/// True where there is a device.
pub(crate) fn is_there() -> bool {
    devices().is_ok()
}

/// Devices by name, those first that the driver puts first.
fn devices() -> Result<Vec<String>, String> {
    // SAFETY: the driver's library has no initialiser to be afraid of.
    let library = unsafe { Library::new(DRIVER) }.map_err(|_| format!("there is no driver ({DRIVER})"))?;
    // SAFETY: int cuInit(unsigned), by the driver's documentation.
    let init: Symbol<unsafe extern "C" fn(u32) -> c_int> = unsafe { symbol(&library, b"cuInit\0")? };
    // SAFETY: 0 is the one flag there is.
    answer("cuInit", unsafe { init(0) })?;
    // SAFETY: int cuDeviceGetCount(int *), by the driver's documentation.
    let count: Symbol<unsafe extern "C" fn(*mut c_int) -> c_int> =
        unsafe { symbol(&library, b"cuDeviceGetCount\0")? };
    let mut devices = 0;
    // SAFETY: writes one int.
    answer("cuDeviceGetCount", unsafe { count(&raw mut devices) })?;
    if devices == 0 {
        return Err("the driver knows no device".into());
    }
    (0..devices).map(|number| describe(&library, number)).collect()
}

fn describe(library: &Library, number: c_int) -> Result<String, String> {
    // SAFETY: int cuDeviceGetName(char *, int, CUdevice), by the driver's documentation.
    let name: Symbol<unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int> =
        unsafe { symbol(library, b"cuDeviceGetName\0")? };
    // SAFETY: int cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice), by the driver's documentation.
    let attribute: Symbol<unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int> =
        unsafe { symbol(library, b"cuDeviceGetAttribute\0")? };
    let mut text = [0; 256];
    // SAFETY: writes at most as many characters, the last of them 0. Devices are their numbers.
    answer("cuDeviceGetName", unsafe { name(text.as_mut_ptr(), text.len() as c_int, number) })?;
    // SAFETY: ends with 0.
    let name = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let mut capability = [0; 2];
    for (value, which) in capability.iter_mut().zip(CAPABILITY_ATTRIBUTES) {
        // SAFETY: writes one int.
        answer("cuDeviceGetAttribute", unsafe { attribute(&raw mut *value, which, number) })?;
    }
    let [major, minor] = capability;
    let enough = if (major, minor) < CAPABILITY { ", too old: 8.0 is needed" } else { "" };
    Ok(format!("{name} (compute capability {major}.{minor}{enough})"))
}

/// # Safety
/// The symbol is of this type.
unsafe fn symbol<'a, T>(library: &'a Library, name: &[u8]) -> Result<Symbol<'a, T>, String> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get(name) }
        .map_err(|_| format!("the driver lacks {}", String::from_utf8_lossy(&name[..name.len() - 1])))
}

fn answer(function: &str, status: c_int) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{function} gives error {status}")) }
}
