//! The messages in a whole stream of server-sent events: the data of each event, other fields and comments aside. Pure.

pub fn messages(body: &str) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in body.lines().chain([""]) {
        if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        } else if line.is_empty() && !data.is_empty() {
            messages.push(std::mem::take(&mut data).join("\n").into_bytes());
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_each_event() {
        let body = ": hello\r\nevent: message\r\nid: 1\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nretry: 5\n\ndata: 2";
        assert_eq!(messages(body), [b"{\"a\":\n1}".to_vec(), b"2".to_vec()]);
        assert!(messages("").is_empty());
    }
}
