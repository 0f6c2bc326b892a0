//! Grammars, compiled for a vocabulary, and where an answer stands in one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use llguidance::api::{GrammarWithLexer, TopLevelGrammar};
use llguidance::toktrie::TokenId;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;

use crate::schema;
use crate::schema_blame;
use crate::vocabulary::Vocabulary;

/// Compilers here recurse along what they are given: along chains of references for
/// example, up to the library's limit of 50 000 schemas. The stack is only reserved.
const STACK_BYTES: usize = 512 << 20;

/// States of the lexer are shared by all answers in a grammar and only grow, so that
/// after so many answers they start anew.
const ANSWERS_PER_LEXER: usize = 256;

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    JsonSchema,
    Regex,
    Lark,
}

pub struct Source<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Schemas that a Lark grammar may refer to.
    pub schemas: Vec<(&'a str, &'a str)>,
}

pub struct Grammar {
    fresh: Mutex<Matcher>,
    shared: Mutex<Matcher>,
    answers: AtomicUsize,
    pub warnings: Vec<String>,
}

impl Grammar {
    pub fn compile(vocabulary: &Vocabulary, source: &Source) -> Result<Grammar, String> {
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, || Grammar::compile_here(vocabulary, source))
                .map_err(|error| format!("no thread to compile on: {error}"))?
                .join()
                .unwrap_or_else(|_| Err("internal error: the compiler panicked".into()))
        })
    }

    fn compile_here(vocabulary: &Vocabulary, source: &Source) -> Result<Grammar, String> {
        let factory = &vocabulary.factory;
        let mut warnings = Vec::new();
        let matcher = match source.kind {
            Kind::JsonSchema => schema_matcher(factory, source.text, &mut warnings)?,
            Kind::Regex => new_matcher(factory, TopLevelGrammar::from_regex(source.text))
                .map_err(|error| regex_error(source.text, &error))?,
            Kind::Lark => lark_matcher(factory, source, &mut warnings)?,
        };
        let mut matcher = matcher;
        warnings.extend(matcher.grammar_warnings());
        let shared = matcher.deep_clone();
        Ok(Grammar {
            fresh: Mutex::new(matcher),
            shared: Mutex::new(shared),
            answers: AtomicUsize::new(0),
            warnings,
        })
    }

    /// The beginning of a new answer.
    pub fn begin(&self) -> Answer {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if self.answers.fetch_add(1, Ordering::Relaxed) % ANSWERS_PER_LEXER == ANSWERS_PER_LEXER - 1
        {
            *shared = self.fresh.lock().unwrap_or_else(PoisonError::into_inner).deep_clone();
        }
        Answer { matcher: shared.clone() }
    }
}

fn new_matcher(factory: &ParserFactory, grammar: TopLevelGrammar) -> Result<Matcher, String> {
    let matcher = Matcher::new(factory.create_parser(grammar));
    match matcher.get_error() {
        Some(error) => Err(first_lines(&error)),
        None => Ok(matcher),
    }
}

/// What the compiler says of alternatives that might overlap.
const OVERLAP: &str = "oneOf constraints are not supported";

fn schema_matcher(
    factory: &ParserFactory,
    text: &str,
    warnings: &mut Vec<String>,
) -> Result<Matcher, String> {
    let schema = prepared_schema(text, false, warnings)?;
    let compile = |schema: &Value| {
        new_matcher(factory, TopLevelGrammar::from_json_schema(schema::with_options(schema)))
    };
    compile(&schema).or_else(|error| {
        if error.contains(OVERLAP) {
            let exclusive = prepared_schema(text, true, &mut Vec::new())?;
            if let Ok(matcher) = compile(&exclusive) {
                return Ok(matcher);
            }
        }
        let place = schema_blame::blame(&schema, &error, &|part| compile(part).err());
        Err(format!("{place}: {}", plain(&error)))
    })
}

fn prepared_schema(
    text: &str,
    exclusive: bool,
    warnings: &mut Vec<String>,
) -> Result<Value, String> {
    let mut schema: Value =
        serde_json::from_str(text).map_err(|error| format!("not a JSON schema: {error}"))?;
    schema::prepare(&mut schema, exclusive, warnings)?;
    Ok(schema)
}

fn lark_matcher(
    factory: &ParserFactory,
    source: &Source,
    warnings: &mut Vec<String>,
) -> Result<Matcher, String> {
    let mut compile = |exclusive| {
        let mut grammar = TopLevelGrammar::from_lark(source.text.to_string());
        warnings.clear();
        for (name, text) in &source.schemas {
            let schema = prepared_schema(text, exclusive, warnings)
                .map_err(|error| format!("{name}: {error}"))?;
            let mut part = GrammarWithLexer::from_json_schema(schema::with_options(&schema));
            part.name = Some((*name).to_string());
            grammar.grammars.push(part);
        }
        new_matcher(factory, grammar)
    };
    let found = compile(false);
    let overlap = found.as_ref().is_err_and(|error| error.contains(OVERLAP));
    let found = if overlap { compile(true) } else { found };
    found.or_else(|error| {
        // Which of the schemas is it, if it is one?
        for (name, text) in &source.schemas {
            schema_matcher(factory, text, &mut Vec::new()).map_err(|e| format!("{name}: {e}"))?;
        }
        Err(lark_error(&error))
    })
}

/// "12(5): message" and "at 12(5): message" become "line 12, column 5: message".
fn lark_error(error: &str) -> String {
    let text = plain(error);
    let text = text.strip_prefix("at ").unwrap_or(&text);
    if let Some((place, message)) = text.split_once("): ") {
        if let Some((line, column)) = place.split_once('(') {
            if line.parse::<usize>().is_ok() && column.parse::<usize>().is_ok() {
                return format!("line {line}, column {column}: {message}");
            }
        }
    }
    text.to_string()
}

/// Where a regular expression is wrong, in the words of its own parser.
fn regex_error(text: &str, error: &str) -> String {
    match regex_syntax::Parser::new().parse(text) {
        Err(regex_syntax::Error::Parse(e)) => {
            format!("position {}: {}", e.span().start.offset, e.kind())
        }
        Err(regex_syntax::Error::Translate(e)) => {
            format!("position {}: {}", e.span().start.offset, e.kind())
        }
        _ => plain(error),
    }
}

/// The library adds sections and pictures in ASCII below its messages.
fn first_lines(error: &str) -> String {
    let end = error.find("\n<").unwrap_or(error.len());
    error[..end].to_string()
}

/// One line, without the picture.
fn plain(error: &str) -> String {
    match error.lines().next().unwrap_or_default().trim() {
        "NoExtensionBias" => "no token of the vocabulary can follow".to_string(),
        line => line.to_string(),
    }
}

pub struct Answer {
    matcher: Matcher,
}

impl Answer {
    /// Writes a bit for each token that may come next.
    pub fn mask(&mut self, words: &mut [u32]) -> Result<(), String> {
        let set = self.matcher.compute_mask_or_eos().map_err(|error| plain(&error.to_string()))?;
        let from = set.as_slice();
        let count = from.len().min(words.len());
        words[..count].copy_from_slice(&from[..count]);
        words[count..].fill(0);
        Ok(())
    }

    pub fn consume(&mut self, tokens: &[TokenId]) -> Result<(), String> {
        self.matcher.consume_tokens(tokens).map_err(|error| plain(&error.to_string()))
    }

    pub fn forced(&mut self) -> Vec<TokenId> {
        if self.is_complete() {
            return Vec::new();
        }
        self.matcher.compute_ff_tokens()
    }

    pub fn is_complete(&self) -> bool {
        self.matcher.is_stopped()
    }

    pub fn error(&self) -> Option<String> {
        self.matcher.get_error().map(|error| plain(&error))
    }
}
