//! C interface of chat templates, and what the interface of grammars shares with it;
//! `vivace_ffi.h` is its contract.
//!
//! This file only moves bytes across the boundary and stops panics there.

mod clock;
mod grammar;
mod grammar_api;
mod json;
mod limits;
mod python;
mod schema;
mod schema_blame;
mod schema_negate;
mod schema_pattern;
mod schema_rewrite;
mod template;
mod trigger;
mod vocabulary;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

use template::{ChatTemplate, Failure, Status};

#[repr(C)]
pub struct VivaceText {
    data: *mut u8,
    size: usize,
}

impl VivaceText {
    const EMPTY: VivaceText = VivaceText { data: std::ptr::null_mut(), size: 0 };

    fn new(text: String) -> VivaceText {
        if text.is_empty() {
            return VivaceText::EMPTY;
        }
        let bytes = text.into_bytes().into_boxed_slice();
        let size = bytes.len();
        VivaceText { data: Box::into_raw(bytes).cast(), size }
    }
}

/// Hands a new object, or the error, to the caller.
unsafe fn deliver<T>(made: Result<T, Failure>, result: *mut *mut T, error: *mut VivaceText) -> i32 {
    let (status, object, text) = match made {
        Ok(object) => (Status::Ok, Box::into_raw(Box::new(object)), String::new()),
        Err(failure) => (failure.status, std::ptr::null_mut(), failure.message),
    };
    unsafe {
        *result = object;
        *error = VivaceText::new(text);
    }
    status as i32
}

/// Frees what `deliver` has handed out, or does nothing for null.
unsafe fn release<T>(object: *mut T) {
    if !object.is_null() {
        drop(unsafe { Box::from_raw(object) });
    }
}

/// # Safety
/// `text` is null or points to a text that a function of this library wrote.
#[no_mangle]
pub unsafe extern "C" fn vivace_text_free(text: *mut VivaceText) {
    let Some(text) = (unsafe { text.as_mut() }) else { return };
    if !text.data.is_null() {
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(text.data, text.size)) });
    }
    *text = VivaceText::EMPTY;
}

/// # Safety
/// `source` points to `size` bytes; `result` and `error` can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_template_compile(
    source: *const u8,
    size: usize,
    result: *mut *mut ChatTemplate,
    error: *mut VivaceText,
) -> i32 {
    let source = unsafe { borrow(source, size) };
    let made = guarded(|| ChatTemplate::compile(text_of(source, Status::Bad, "the template")?));
    unsafe { deliver(made, result, error) }
}

/// # Safety
/// `compiled` came from vivace_template_compile and was not freed; `context`
/// points to `context_size` bytes; `output` can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_template_render(
    compiled: *const ChatTemplate,
    context: *const u8,
    context_size: usize,
    local_seconds: i64,
    marker: u32,
    output: *mut VivaceText,
) -> i32 {
    let compiled = unsafe { &*compiled };
    let context = unsafe { borrow(context, context_size) };
    let rendered = guarded(|| {
        let context = text_of(context, Status::Context, "the context")?;
        compiled.render(context, local_seconds, char::from_u32(marker).filter(|c| *c != '\0'))
    });
    let (status, text) = match rendered {
        Ok(text) => (Status::Ok, text),
        Err(failure) => (failure.status, failure.message),
    };
    unsafe { *output = VivaceText::new(text) };
    status as i32
}

/// # Safety
/// `compiled` is null or came from vivace_template_compile and was not freed.
#[no_mangle]
pub unsafe extern "C" fn vivace_template_free(compiled: *mut ChatTemplate) {
    unsafe { release(compiled) }
}

/// # Safety
/// `data` points to `size` bytes that stay alive and unchanged for `'a`.
unsafe fn borrow<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[]; // C may pass null here, which a Rust slice may not hold
    }
    unsafe { std::slice::from_raw_parts(data, size) }
}

fn text_of<'a>(bytes: &'a [u8], status: Status, what: &str) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        Failure::new(status, format!("{what} is not UTF-8 at byte {}", error.valid_up_to()))
    })
}

fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // The default hook prints; a library has no say over its program's stderr.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let reason = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Err(Failure::new(Status::Internal, format!("internal error: {reason}")))
    })
}
