//! C interface of vocabularies, grammars and answers; `vivace_ffi.h` is its contract.

use std::ffi::c_void;

use crate::grammar::{Answer, Grammar, Kind, Source};
use crate::template::{Failure, Status};
use crate::trigger::Pattern;
use crate::vocabulary::{Tokenize, Vocabulary};
use crate::{borrow, deliver, guarded, release, text_of, VivaceText};

#[repr(C)]
pub struct VivaceView {
    data: *const u8,
    size: usize,
}

impl VivaceView {
    /// # Safety
    /// The view points to bytes that stay alive and unchanged for `'a`.
    unsafe fn text<'a>(&self, what: &str) -> Result<&'a str, Failure> {
        text_of(unsafe { borrow(self.data, self.size) }, Status::Bad, what)
    }
}

#[repr(C)]
pub struct VivaceSchema {
    name: VivaceView,
    text: VivaceView,
}

#[repr(C)]
pub struct VivaceSource {
    kind: i32,
    text: VivaceView,
    schemas: *const VivaceSchema,
    count: usize,
}

#[repr(C)]
pub struct VivaceTokens {
    bytes: *const u8,
    ends: *const usize,
    kinds: *const u8,
    count: usize,
    tokenize: Tokenize,
    context: *const c_void,
}

/// # Safety
/// `data` points to `count` values that stay alive and unchanged for `'a`.
unsafe fn list<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(data, count) }
}

fn bad(message: String) -> Failure {
    Failure::new(Status::Bad, message)
}

/// # Safety
/// `tokens` is as the header says; its function may be called from any thread for as long
/// as grammars of this live; the results can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_vocabulary_create(
    tokens: *const VivaceTokens,
    result: *mut *mut Vocabulary,
    error: *mut VivaceText,
) -> i32 {
    let tokens = unsafe { &*tokens };
    let ends = unsafe { list(tokens.ends, tokens.count) };
    let kinds = unsafe { borrow(tokens.kinds, tokens.count) };
    let bytes = unsafe { borrow(tokens.bytes, ends.last().copied().unwrap_or(0)) };
    let made = guarded(|| {
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let pieces = begins.zip(ends).map(|(begin, end)| &bytes[begin..*end]).collect();
        Vocabulary::new(pieces, kinds, tokens.tokenize, tokens.context).map_err(bad)
    });
    unsafe { deliver(made, result, error) }
}

/// # Safety
/// `vocabulary` is null or came from vivace_vocabulary_create and was not freed.
#[no_mangle]
pub unsafe extern "C" fn vivace_vocabulary_free(vocabulary: *mut Vocabulary) {
    unsafe { release(vocabulary) }
}

/// # Safety
/// `vocabulary` is alive; `source` is as the header says; the results can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_grammar_compile(
    vocabulary: *const Vocabulary,
    source: *const VivaceSource,
    result: *mut *mut Grammar,
    warnings: *mut VivaceText,
    error: *mut VivaceText,
) -> i32 {
    let vocabulary = unsafe { &*vocabulary };
    let source = unsafe { &*source };
    let schemas = unsafe { list(source.schemas, source.count) };
    let made = guarded(|| {
        let kind = match source.kind {
            0 => Kind::JsonSchema,
            1 => Kind::Regex,
            2 => Kind::Lark,
            other => return Err(bad(format!("kind {other} is unknown"))),
        };
        let mut parsed =
            Source { kind, text: unsafe { source.text.text("the text") }?, schemas: Vec::new() };
        for schema in schemas {
            let name = unsafe { schema.name.text("a name") }?;
            parsed.schemas.push((name, unsafe { schema.text.text("a schema") }?));
        }
        Grammar::compile(vocabulary, &parsed).map_err(bad)
    });
    let said = made.as_ref().map_or(String::new(), |grammar| grammar.warnings.join("\n"));
    unsafe {
        *warnings = VivaceText::new(said);
        deliver(made, result, error)
    }
}

/// # Safety
/// `grammar` is null or came from vivace_grammar_compile and was not freed.
#[no_mangle]
pub unsafe extern "C" fn vivace_grammar_free(grammar: *mut Grammar) {
    unsafe { release(grammar) }
}

/// # Safety
/// `grammar` is alive; the results can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_create(
    grammar: *const Grammar,
    result: *mut *mut Answer,
    error: *mut VivaceText,
) -> i32 {
    let grammar = unsafe { &*grammar };
    let made = guarded(|| Ok(grammar.begin()));
    unsafe { deliver(made, result, error) }
}

/// # Safety
/// `answer` is null or came from vivace_answer_create and was not freed.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_free(answer: *mut Answer) {
    unsafe { release(answer) }
}

unsafe fn report(done: Result<(), Failure>, error: *mut VivaceText) -> i32 {
    let (status, text) = match done {
        Ok(()) => (Status::Ok, String::new()),
        Err(failure) => (failure.status, failure.message),
    };
    unsafe { *error = VivaceText::new(text) };
    status as i32
}

/// # Safety
/// `answer` is alive and used by no other thread; `words` can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_mask(
    answer: *mut Answer,
    words: *mut u32,
    count: usize,
    error: *mut VivaceText,
) -> i32 {
    let answer = unsafe { &mut *answer };
    let words = unsafe { std::slice::from_raw_parts_mut(words, count) };
    unsafe { report(guarded(|| answer.mask(words).map_err(bad)), error) }
}

/// # Safety
/// `answer` is alive and used by no other thread; `tokens` points to `count` of them.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_consume(
    answer: *mut Answer,
    tokens: *const u32,
    count: usize,
    error: *mut VivaceText,
) -> i32 {
    let answer = unsafe { &mut *answer };
    let tokens = unsafe { list(tokens, count) };
    unsafe { report(guarded(|| answer.consume(tokens).map_err(bad)), error) }
}

/// # Safety
/// `answer` is alive and used by no other thread; `tokens` has room for `capacity`.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_forced(
    answer: *mut Answer,
    tokens: *mut u32,
    capacity: usize,
) -> usize {
    let answer = unsafe { &mut *answer };
    let forced = guarded(|| Ok(answer.forced())).unwrap_or_default();
    let count = forced.len().min(capacity);
    if count > 0 {
        unsafe { std::ptr::copy_nonoverlapping(forced.as_ptr(), tokens, count) };
    }
    count
}

/// # Safety
/// `answer` is alive and used by no other thread; `error` can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_answer_is_complete(
    answer: *const Answer,
    error: *mut VivaceText,
) -> i32 {
    let answer = unsafe { &*answer };
    let failed = answer.error();
    let complete = failed.is_none() && answer.is_complete();
    unsafe { *error = VivaceText::new(failed.unwrap_or_default()) };
    i32::from(complete)
}

/// # Safety
/// `text` is as the header says; the results can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_pattern_compile(
    text: VivaceView,
    whole: i32,
    result: *mut *mut Pattern,
    error: *mut VivaceText,
) -> i32 {
    let made =
        guarded(|| Pattern::compile(unsafe { text.text("the pattern") }?, whole != 0).map_err(bad));
    unsafe { deliver(made, result, error) }
}

/// # Safety
/// `pattern` is null or came from vivace_pattern_compile and was not freed.
#[no_mangle]
pub unsafe extern "C" fn vivace_pattern_free(pattern: *mut Pattern) {
    unsafe { release(pattern) }
}

/// # Safety
/// `pattern` is alive; `text` is as the header says; `begin` can be written.
#[no_mangle]
pub unsafe extern "C" fn vivace_pattern_find(
    pattern: *const Pattern,
    text: VivaceView,
    begin: *mut usize,
) -> i32 {
    let pattern = unsafe { &*pattern };
    let text = unsafe { borrow(text.data, text.size) };
    let found = guarded(|| Ok(pattern.find(text))).unwrap_or_default();
    if let Some(at) = found {
        unsafe { *begin = at };
    }
    i32::from(found.is_some())
}
