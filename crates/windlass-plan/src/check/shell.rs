//! Just enough of the shell to recognise a command line whose result is decided before it runs: `true`, `exit 0`,
//! `cargo test || true`, `cargo test | tail`. It splits a line into lists, pipelines and words, and whenever it meets
//! anything it does not understand it answers that the result is open. It is no guard against malice: there are
//! endless ways to write a command that cannot fail.

/// What is certain about a command line without running it.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Foregone {
    pub exit: Option<i32>,
    pub output: Option<String>,
}

/// A quote that is opened and not closed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclosed(pub char);

pub(crate) fn foregone(line: &str) -> Result<Foregone, Unclosed> {
    match Lexer::new(line).statements() {
        Ok(statements) => Ok(Foregone { exit: exit_of(&statements), output: printed(&statements) }),
        Err(Stop::Beyond) => Ok(Foregone::default()),
        Err(Stop::Unclosed(quote)) => Err(Unclosed(quote)),
    }
}

/// Whether the line's exit code is that of a program which answers a question: 0 is yes, 1 is no, and anything more is
/// that it could not tell.
pub(crate) fn answers_with_0_or_1(line: &str) -> bool {
    let Ok(statements) = Lexer::new(line).statements() else { return false };
    let Some(last) = statements.last() else { return false };
    let deciding = last.pipelines.iter().map(|(_, pipeline)| pipeline.commands.last());
    deciding.into_iter().all(|command| command.is_some_and(|command| is_question(command)))
}

fn is_question(command: &[Word]) -> bool {
    const QUESTIONS: [&str; 9] = ["grep", "egrep", "fgrep", "zgrep", "rg", "test", "[", "diff", "cmp"];
    let words: Vec<&str> = command.iter().map(|word| word.text.as_str()).collect();
    match words[..] {
        ["git", "grep" | "diff", ..] => true,
        [name, ..] => QUESTIONS.contains(&name.rsplit('/').next().unwrap_or(name)),
        [] => false,
    }
}

/// Why a line was not read to its end.
enum Stop {
    Unclosed(char),
    /// It uses more of the shell than is understood here.
    Beyond,
}

/// A word, and whether it is the same text at every run.
#[derive(Debug, Clone, Default)]
struct Word {
    text: String,
    open: bool,
}

type Command = Vec<Word>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

#[derive(Debug, Default)]
struct Pipeline {
    negated: bool,
    commands: Vec<Command>,
}

/// Pipelines joined by `&&` and `||`; the first one's joint means nothing.
#[derive(Debug, Default)]
struct Statement {
    pipelines: Vec<(Joint, Pipeline)>,
    background: bool,
}

/// Words that change how what follows is read or ended.
const BEYOND_US: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "{", "}", "[[", "set", "shopt", "trap", "return", "break", "continue", "eval", "source", ".", "alias", "exec",
    "wait",
];

fn exit_of(statements: &[Statement]) -> Option<i32> {
    let words =
        || statements.iter().flat_map(|s| &s.pipelines).flat_map(|(_, p)| &p.commands).filter_map(|c| c.first());
    if words().any(|word| word.open || BEYOND_US.contains(&word.text.as_str())) {
        return None;
    }
    // A comment or an assignment alone succeeds.
    let Some((last, earlier)) = statements.split_last() else {
        return Some(0);
    };
    for statement in earlier {
        if leaves(statement) {
            // Left at once when it stands alone; otherwise whether it is reached is open.
            return if statement.pipelines.len() == 1 { exit_of_statement(statement) } else { None };
        }
    }
    exit_of_statement(last)
}

fn leaves(statement: &Statement) -> bool {
    let commands = statement.pipelines.iter().flat_map(|(_, pipeline)| &pipeline.commands);
    commands.filter_map(|command| command.first()).any(|word| word.text == "exit")
}

fn exit_of_statement(statement: &Statement) -> Option<i32> {
    if statement.background {
        return Some(0);
    }
    let mut pipelines = statement.pipelines.iter();
    let mut exit = exit_of_pipeline(&pipelines.next()?.1);
    for (joint, pipeline) in pipelines {
        let next = exit_of_pipeline(pipeline);
        exit = match (joint, exit) {
            (Joint::And, Some(0)) => next,
            (Joint::Or, Some(0)) => Some(0),
            (Joint::And, Some(code)) => Some(code),
            (Joint::Or, Some(_)) => next,
            // Either it succeeded, or what follows does.
            (Joint::Or, None) if next == Some(0) => Some(0),
            (Joint::And | Joint::Or, None) => None,
        };
    }
    exit
}

fn exit_of_pipeline(pipeline: &Pipeline) -> Option<i32> {
    let (last, feeding) = pipeline.commands.split_last()?;
    let exit = match last.first() {
        // Those that only pass on what they are given succeed whatever failed before them.
        Some(word) if !feeding.is_empty() && ["cat", "tee", "head", "tail", "wc"].contains(&word.text.as_str()) => {
            Some(0)
        }
        _ => exit_of_command(last),
    }?;
    Some(if pipeline.negated { i32::from(exit == 0) } else { exit })
}

fn exit_of_command(command: &[Word]) -> Option<i32> {
    let (name, arguments) = command.split_first()?;
    let installed = |folder| name.text.strip_prefix(folder);
    match installed("/usr/bin/").or_else(|| installed("/bin/")).unwrap_or(&name.text) {
        "true" | ":" | "echo" | "printf" | "pwd" => Some(0),
        "false" => Some(1),
        "exit" => match arguments {
            [] => Some(0),
            [code] if !code.open => code.text.parse().ok(),
            _ => None,
        },
        "sh" | "bash" | "dash" => match arguments {
            [flag, script] if flag.text == "-c" && !script.open => foregone(&script.text).ok()?.exit,
            _ => None,
        },
        "env" | "command" | "nice" | "time" | "nohup" => exit_of_command(arguments),
        "test" => exit_of_test(arguments),
        "[" => exit_of_test(arguments.split_last()?.1),
        _ => None,
    }
}

fn exit_of_test(operands: &[Word]) -> Option<i32> {
    if operands.iter().any(|word| word.open) {
        return None;
    }
    let texts: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
    let holds = match texts[..] {
        [] => false,
        [text] => !text.is_empty(),
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        [left, "=" | "==" | "-eq", right] => left == right,
        [left, "!=" | "-ne", right] => left != right,
        _ => return None,
    };
    Some(i32::from(!holds))
}

/// What a single command prints, where it is the same every time.
fn printed(statements: &[Statement]) -> Option<String> {
    let [statement] = statements else { return None };
    let [(_, pipeline)] = &statement.pipelines[..] else {
        return None;
    };
    let [command] = &pipeline.commands[..] else {
        return None;
    };
    let (name, arguments) = command.split_first()?;
    let texts = || arguments.iter().map(|word| word.text.as_str()).collect::<Vec<_>>();
    match name.text.as_str() {
        _ if command.iter().any(|word| word.open) => None,
        "true" | "false" | ":" | "exit" => Some(String::new()),
        "echo" => Some(texts().into_iter().filter(|text| *text != "-n").collect::<Vec<_>>().join(" ")),
        "printf" if arguments.len() == 1 => Some(texts().concat().replace("\\n", "\n")),
        _ => None,
    }
}

struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    statements: Vec<Statement>,
    statement: Statement,
    joint: Joint,
    pipeline: Pipeline,
    command: Command,
    word: Option<Word>,
    /// After `|`, `&&` or `||`: a new line does not end the statement yet.
    unfinished: bool,
}

impl<'a> Lexer<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            rest: line.chars().peekable(),
            statements: Vec::new(),
            statement: Statement::default(),
            joint: Joint::And,
            pipeline: Pipeline::default(),
            command: Command::default(),
            word: None,
            unfinished: false,
        }
    }

    fn statements(mut self) -> Result<Vec<Statement>, Stop> {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.word().text.push(escaped),
                },
                '#' if self.word.is_none() => while self.rest.next_if(|letter| *letter != '\n').is_some() {},
                '$' | '*' | '?' | '[' if self.rest.peek() != Some(&'(') => {
                    // Alone, a bracket is the name of a command.
                    self.word().open |= letter != '[';
                    self.word().text.push(letter);
                }
                '&' if self.rest.next_if_eq(&'>').is_some() => self.redirect()?,
                '>' => self.redirect()?,
                '$' | '*' | '?' | '`' | '(' | ')' | '<' => return Err(Stop::Beyond),
                '&' if self.rest.next_if_eq(&'&').is_some() => self.join(Joint::And),
                '|' if self.rest.next_if_eq(&'|').is_some() => self.join(Joint::Or),
                '|' => {
                    self.rest.next_if_eq(&'&');
                    self.end_command();
                    self.unfinished = true;
                }
                '&' => self.end_statement(true),
                '\n' if self.unfinished && self.word.is_none() => {}
                ';' | '\n' => self.end_statement(false),
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.word().text.push(letter),
            }
        }
        self.end_statement(false);
        Ok(self.statements)
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn single_quoted(&mut self) -> Result<(), Stop> {
        self.word();
        loop {
            match self.rest.next().ok_or(Stop::Unclosed('\''))? {
                '\'' => return Ok(()),
                letter => self.word().text.push(letter),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), Stop> {
        self.word();
        loop {
            match self.rest.next().ok_or(Stop::Unclosed('"'))? {
                '"' => return Ok(()),
                '\\' => {
                    let escaped = self.rest.next().ok_or(Stop::Unclosed('"'))?;
                    self.word().text.push(escaped);
                }
                '`' => return Err(Stop::Beyond),
                '$' if self.rest.peek() == Some(&'(') => return Err(Stop::Beyond),
                letter => {
                    let word = self.word();
                    word.open |= letter == '$';
                    word.text.push(letter);
                }
            }
        }
    }

    /// Takes the rest of `2>&1` or `>/dev/null`, which change no result; any other target may not be writable.
    fn redirect(&mut self) -> Result<(), Stop> {
        self.word.take_if(|word| matches!(word.text.as_str(), "1" | "2"));
        self.end_word();
        while self.rest.next_if_eq(&' ').is_some() {}
        let mut target = String::new();
        while let Some(letter) = self.rest.next_if(|letter| !letter.is_whitespace() && !matches!(letter, ';' | '|')) {
            target.push(letter);
        }
        if matches!(target.as_str(), "&1" | "&2" | "/dev/null") { Ok(()) } else { Err(Stop::Beyond) }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        self.unfinished = false;
        let first = self.command.is_empty();
        if first && word.text == "!" && self.pipeline.commands.is_empty() {
            self.pipeline.negated = !self.pipeline.negated;
        } else if !(first && word.text.contains('=') && !word.open) {
            self.command.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.command.is_empty() {
            self.pipeline.commands.push(std::mem::take(&mut self.command));
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        if !self.pipeline.commands.is_empty() {
            self.statement.pipelines.push((self.joint, std::mem::take(&mut self.pipeline)));
        }
    }

    fn join(&mut self, joint: Joint) {
        self.end_pipeline();
        self.joint = joint;
        self.unfinished = true;
    }

    fn end_statement(&mut self, background: bool) {
        self.end_pipeline();
        self.joint = Joint::And;
        self.unfinished = false;
        if !self.statement.pipelines.is_empty() {
            self.statement.background = background;
            self.statements.push(std::mem::take(&mut self.statement));
        }
    }
}
