//! What comes over the link, with the descriptors that come along.

use std::{
    fs::File,
    io::{self, Read, Seek},
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    stdio::stdin,
};

use super::launch::{Ends, Pipes};
use crate::{
    Streams,
    packet::receive_packet,
    wire::{LINK_PACKET, Request},
};

/// A command to start.
pub(crate) struct Order {
    pub(crate) control: UnixStream,
    pub(crate) request: Request,
    pub(crate) ends: Ends,
}

impl Order {
    /// `None` for nonsense, and for an order whose owner has changed its mind already.
    pub(crate) fn read(descriptors: Vec<OwnedFd>) -> Option<Self> {
        let mut descriptors = descriptors.into_iter();
        let control = UnixStream::from(descriptors.next()?);
        control.set_nonblocking(true).ok()?;
        if is_abandoned(&control) {
            return None;
        }
        let request = read_request(descriptors.next()?)?;
        let is_apart = match request.streams {
            Streams::Terminal { rows, cols } => {
                return Some(Self { control, request, ends: Ends::Terminal { rows, cols } });
            }
            Streams::Apart => true,
            Streams::Together => false,
        };
        let stdout = descriptors.next()?;
        let mut next_if = |is_there: bool| if is_there { descriptors.next().map(Some) } else { Some(None) };
        let stderr = next_if(is_apart)?;
        let stdin = next_if(request.has_stdin)?;
        Some(Self { control, request, ends: Ends::Pipes(Pipes { stdout, stderr, stdin }) })
    }
}

fn is_abandoned(control: &UnixStream) -> bool {
    let mut polled = [PollFd::new(control, PollFlags::empty())];
    let _ = poll(&mut polled, Some(&Timespec::default()));
    polled[0].revents().contains(PollFlags::HUP)
}

/// One packet from the link and what came with it. An empty packet is the end.
pub(crate) fn receive() -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut packet = vec![0; LINK_PACKET];
    let (length, descriptors) = receive_packet(stdin(), &mut packet)?;
    packet.truncate(length);
    Ok((packet, descriptors))
}

fn read_request(file: OwnedFd) -> Option<Request> {
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Request::decode(&bytes)
}
