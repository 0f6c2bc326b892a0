//! The tokens of a model, as a tree of bytes that grammars are matched against.

use std::ffi::c_void;
use std::sync::Arc;

use llguidance::toktrie::{
    InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv, INVALID_TOKEN,
};
use llguidance::ParserFactory;

/// What a token is for, as in the C header.
const CONTROL: u8 = 1;
const END: u8 = 2;
const UNUSED: u8 = 3;

/// How much work and memory one grammar may take. The library's defaults, except
/// that a mask may cost a little more, as there is no second try.
const MAX_ITEMS_PER_MASK: usize = 200_000;
const MAX_LEXER_FUEL_PER_MASK: u64 = 1_000_000;
const MAX_LEXER_STATES: usize = 100_000;

pub type Emit = unsafe extern "C" fn(sink: *mut c_void, tokens: *const u32, count: usize);
pub type Tokenize = unsafe extern "C" fn(
    context: *const c_void,
    text: *const u8,
    size: usize,
    sink: *mut c_void,
    emit: Emit,
);

struct Tokens {
    trie: TokTrie,
    tokenize: Tokenize,
    context: *const c_void,
}

// The C header asks for a function that any thread may call.
unsafe impl Send for Tokens {}
unsafe impl Sync for Tokens {}

unsafe extern "C" fn push_all(sink: *mut c_void, tokens: *const u32, count: usize) {
    if count > 0 {
        let list = unsafe { &mut *sink.cast::<Vec<TokenId>>() };
        list.extend_from_slice(unsafe { std::slice::from_raw_parts(tokens, count) });
    }
}

impl TokenizerEnv for Tokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, text: &[u8]) -> Vec<TokenId> {
        let mut list: Vec<TokenId> = Vec::new();
        let sink = std::ptr::from_mut(&mut list).cast();
        unsafe { (self.tokenize)(self.context, text.as_ptr(), text.len(), sink, push_all) };
        list
    }
}

pub struct Vocabulary {
    pub factory: ParserFactory,
}

impl Vocabulary {
    /// `pieces` are the bytes of each token, `kinds` what it is for.
    pub fn new(
        pieces: Vec<&[u8]>,
        kinds: &[u8],
        tokenize: Tokenize,
        context: *const c_void,
    ) -> Result<Vocabulary, String> {
        let words: Vec<Vec<u8>> =
            pieces.iter().zip(kinds).map(|(piece, kind)| word(piece, *kind)).collect();
        let ends = kinds.iter().enumerate().filter(|(_, kind)| **kind == END);
        let ends: Vec<TokenId> = ends.map(|(id, _)| id as TokenId).collect();
        let end = ends.first().copied().unwrap_or(INVALID_TOKEN);
        let mut trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words);
        if !ends.is_empty() {
            trie = trie.with_eos_tokens(&ends);
        }
        let tokens: TokEnv = Arc::new(Tokens { trie, tokenize, context });
        let can = InferenceCapabilities { ff_tokens: true, ..Default::default() };
        let slices = llguidance::earley::SlicedBiasComputer::json_slices();
        let mut factory =
            ParserFactory::new(&tokens, can, &slices).map_err(|error| error.to_string())?;
        factory.quiet();
        let limits = factory.limits_mut();
        limits.verbose_errors = false;
        limits.step_max_items = MAX_ITEMS_PER_MASK;
        limits.step_lexer_fuel = MAX_LEXER_FUEL_PER_MASK;
        limits.max_lexer_states = MAX_LEXER_STATES;
        Ok(Vocabulary { factory })
    }
}

/// Control tokens stand apart from all text; no text leads to an unused one.
fn word(piece: &[u8], kind: u8) -> Vec<u8> {
    match kind {
        UNUSED => Vec::new(),
        CONTROL | END => [&[TokTrie::SPECIAL_TOKEN_MARKER], piece].concat(),
        _ => piece.to_vec(),
    }
}
