//! The conversation, the newest at the bottom: what was said, what is being worked on because of it, and the line that one writes.

use super::super::model::Model;
use super::super::sight::Talk;
use super::rows::{Foot, Row, in_one, short, whole};
use super::{Scrolled, Sheet};
use crate::show::{Line, Style};

pub fn sheet(model: &Model) -> Sheet {
    let stream = &model.stream;
    let width = model.size.0.into();
    let mut foot = Foot::default();
    if let Some(chosen) = stream.choosing {
        let known = stream.talk.as_ref().map_or(&[][..], |talk| talk.known.as_slice());
        let mut body = vec![in_one(&Line::new().add(Style::Bold, "Which conversation?"), width)];
        if known.is_empty() {
            body.push(in_one(&Line::new().dim("There is none but this one yet."), width));
        }
        body.extend(known.iter().enumerate().map(|(index, known)| {
            let mark = if index == chosen { "▸ " } else { "  " };
            in_one(&known.line.clone().behind(Style::Accent, mark), width)
        }));
        // Row by row with the one that is chosen.
        let room = usize::from(model.size.1).saturating_sub(5).max(1);
        return Sheet { body, foot, is_scrolled: Scrolled::From((chosen + 2).saturating_sub(room)) };
    }
    let mut body = match &stream.talk {
        None => vec![in_one(&Line::new().dim("Looking what was said …"), width)],
        Some(talk) => told(talk, width),
    };
    if stream.is_saying {
        body.extend(whole(&Line::new().dim("… it is being said"), width));
    }
    if stream.is_writing || !stream.field.is_blank() {
        foot.write("say › ", &stream.field, width);
        if !stream.is_writing {
            foot.cursor = None;
        }
    }
    Sheet { body, foot, is_scrolled: Scrolled::ToEnd(stream.scroll) }
}

fn told(talk: &Talk, width: usize) -> Vec<Row> {
    let mut body = Vec::new();
    if let Some(folder) = &talk.folder {
        body.push(in_one(&Line::new().dim("about ").dim(folder), width));
        body.push(Row::new());
    }
    if talk.said.is_empty() {
        let empty = Line::new().plain("Nothing was said here yet.");
        let what = "Enter: say what you would like to know or to have done. Small talk is answered at once; work waits for your yes in Review.";
        body.extend([empty, Line::new().dim(what)].iter().flat_map(|line| whole(line, width)));
    }
    body.extend(talk.said.iter().flat_map(|line| whole(line, width)));
    if talk.is_answering {
        body.extend(whole(&Line::marked(Style::Dim, "│ ").dim("… thinking about it"), width));
        body.push(Row::new());
    }
    body.extend(talk.work.iter().flat_map(|line| short(line, width).into_iter().take(2)));
    body
}
