//! A chat template as Hugging Face transformers compiles and renders it.

use std::borrow::Cow;
use std::error::Error as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Value};

use crate::limits;
use crate::python::{self, Call, Raised};

const NAME: &str = "chat_template";

#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Status {
    Ok = 0,
    Bad = 1,
    Raised = 2,
    Limit = 3,
    Context = 4,
    Internal = 5,
}

pub struct Failure {
    pub status: Status,
    pub message: String,
}

impl Failure {
    pub fn new(status: Status, message: String) -> Failure {
        // One line, whatever a template or a key contained.
        let message = message.replace(|c: char| c.is_control(), " ");
        Failure { status, message }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if error.source().is_some_and(|source| source.is::<Raised>()) {
            return Failure::new(Status::Raised, error.detail().unwrap_or_default().to_string());
        }
        let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
        if error.kind() == ErrorKind::OutOfFuel {
            return Failure::new(Status::Limit, format!("{line}too much work or output"));
        }
        let what = match error.detail() {
            Some(detail) => format!("{}: {detail}", error.kind()),
            None => error.kind().to_string(),
        };
        Failure::new(Status::Bad, format!("{line}{what}"))
    }
}

pub struct ChatTemplate {
    env: Environment<'static>,
}

impl ChatTemplate {
    pub fn compile(source: &str) -> Result<ChatTemplate, Failure> {
        limits::check_source(source).map_err(|why| Failure::new(Status::Limit, why))?;
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
        let mut env = Environment::new();
        env.set_syntax(syntax);
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_debug(true); // errors then name the undefined variable
        python::install(&mut env);
        env.add_template_owned(NAME, without_generation_tags(source).into_owned())?;
        Ok(ChatTemplate { env })
    }

    pub fn render(
        &self,
        context: &str,
        local_seconds: i64,
        marker: Option<char>,
    ) -> Result<String, Failure> {
        let values: Value = serde_json::from_str(context)
            .map_err(|error| Failure::new(Status::Context, error.to_string()))?;
        python::begin(Call { local_seconds, marker });
        let mut env = self.env.clone(); // shares the template; only the fuel is its own
        env.set_fuel(Some(limits::fuel_for(context.len())));
        Ok(env.get_template(NAME)?.render(values)?)
    }
}

/// `{% generation %}` marks the tokens to train on. It has no effect on the text,
/// and like `{% with %}` it opens a scope.
fn without_generation_tags(source: &str) -> Cow<'_, str> {
    if !source.contains("generation") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at + 2);
        out.push_str(before);
        let name_at = tag.find(|c: char| !c.is_whitespace() && c != '-' && c != '+');
        let (space, tag) = tag.split_at(name_at.unwrap_or(tag.len()));
        out.push_str(space);
        rest = tag;
        for (word, plain) in [("generation", "with"), ("endgeneration", "endwith")] {
            let after = tag.strip_prefix(word).unwrap_or_default();
            let end = after.trim_start().trim_start_matches(['-', '+']);
            if end.starts_with("%}") {
                out.push_str(plain);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}
