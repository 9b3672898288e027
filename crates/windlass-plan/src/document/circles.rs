//! Which of many that wait for each other are in one circle (Tarjan's components), in time that grows with their edges and on no
//! stack but its own: a file may hold a hundred thousand atoms in a row.

/// For each node a number that it shares with those it is in a circle with, and with nobody else. `edges` leads from each node
/// to those that it waits for.
pub(super) fn circles(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut search = Search { edges, found: 0, nodes: vec![Node::New; edges.len()], open: Vec::new() };
    for node in 0..edges.len() {
        if let Node::New = search.nodes[node] {
            search.from(node);
        }
    }
    let number = |node: Node| match node {
        Node::Closed { circle } => circle,
        Node::New | Node::Open { .. } => unreachable!("every node was searched to its end"),
    };
    search.nodes.into_iter().map(number).collect()
}

#[derive(Clone, Copy)]
enum Node {
    New,
    /// When it was found, and the oldest open node that it leads to.
    Open {
        found: usize,
        oldest: usize,
    },
    Closed {
        circle: usize,
    },
}

struct Search<'a> {
    edges: &'a [Vec<usize>],
    found: usize,
    nodes: Vec<Node>,
    /// Those whose circle is not known yet, oldest first.
    open: Vec<usize>,
}

impl Search<'_> {
    fn from(&mut self, node: usize) {
        self.enter(node);
        let mut path = vec![(node, 0)];
        while let Some((node, next)) = path.last_mut() {
            let (at, edge) = (*node, self.edges[*node].get(*next).copied());
            *next += 1;
            match edge.map(|to| (to, self.nodes[to])) {
                Some((to, Node::New)) => {
                    self.enter(to);
                    path.push((to, 0));
                }
                Some((_, Node::Open { found, .. })) => self.leads_to(at, found),
                Some((_, Node::Closed { .. })) => {}
                None => {
                    path.pop();
                    let oldest = self.leave(at);
                    if let Some((above, _)) = path.last() {
                        self.leads_to(*above, oldest);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.nodes[node] = Node::Open { found: self.found, oldest: self.found };
        self.found += 1;
        self.open.push(node);
    }

    fn leads_to(&mut self, node: usize, older: usize) {
        if let Node::Open { oldest, .. } = &mut self.nodes[node] {
            *oldest = (*oldest).min(older);
        }
    }

    /// Closes the circle where this is its oldest; the oldest that it leads to.
    fn leave(&mut self, node: usize) -> usize {
        let Node::Open { found, oldest } = self.nodes[node] else { return usize::MAX };
        if oldest < found {
            return oldest;
        }
        while let Some(last) = self.open.pop() {
            self.nodes[last] = Node::Closed { circle: found };
            if last == node {
                break;
            }
        }
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two are in one circle, told by brute force.
    fn reaches(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
        let (mut seen, mut open) = (vec![false; edges.len()], vec![from]);
        while let Some(node) = open.pop() {
            for next in &edges[node] {
                if *next == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[*next], true) {
                    open.push(*next);
                }
            }
        }
        false
    }

    #[test]
    fn two_share_a_number_exactly_where_each_leads_to_the_other() {
        let mut dice: u64 = 1;
        let mut roll = |below: usize| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(dice >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let size = 2 + roll(8);
            let mut edges = vec![Vec::new(); size];
            (0..roll(2 * size)).for_each(|_| edges[roll(size)].push(roll(size)));
            let numbers = circles(&edges);
            for (one, other) in (0..size).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let together = reaches(&edges, one, other) && reaches(&edges, other, one);
                assert_eq!(numbers[one] == numbers[other], together, "{edges:?}: {one} {other}");
            }
        }
    }

    #[test]
    fn a_long_row_needs_no_stack() {
        let row: Vec<Vec<usize>> = (0..300_000).map(|node| if node == 0 { vec![] } else { vec![node - 1] }).collect();
        let mut numbers = circles(&row);
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), row.len());
    }
}
