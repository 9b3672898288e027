//! What a disk may hold after the power went out. Whatever a finished sync had covered is there. Of everything later each
//! write may have been kept, lost, or torn at a sector, in any combination and independently of the others: a disk and its
//! kernel write in whatever order they like. The model is the one that SQLite states for itself: writing a sector does not
//! change its neighbours.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dice::Dice;
use crate::disk::Op;

const SECTOR: usize = 512;

/// Files by name.
pub type Image = BTreeMap<String, Vec<u8>>;

/// The files that matter after a power cut: not the index of the log, which lives in memory shared by processes, nor locks.
pub fn read_image(folder: &Path) -> Image {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let matters = |name: &str| name.ends_with(".db") || name.ends_with(".db-wal");
    entries
        .map(|entry| (entry.file_name().into_string().expect("a plain name"), entry.path()))
        .filter(|(name, _)| matters(name))
        .map(|(name, path)| (name, std::fs::read(path).expect("readable")))
        .collect()
}

pub fn write_image(folder: &Path, image: &Image) {
    for (name, bytes) in image {
        std::fs::write(folder.join(name), bytes).expect("writable");
    }
}

/// The power goes out after `log`, on a disk that held `before` at its beginning.
pub fn image_after_power_cut(before: &Image, log: &[Op], dice: &mut Dice) -> Image {
    let durable = durable_lengths(log);
    // Some disks lose nearly everything, some nearly nothing.
    let kept_of_100 = dice.pick(&[0, 10, 50, 90, 100]);
    let mut image = before.clone();
    for (index, op) in log.iter().enumerate() {
        let is_durable = |file: &String| durable.get(file).is_some_and(|covers| index < *covers);
        match op {
            Op::Write { file, offset, bytes } => {
                let sectors = if is_durable(file) { Sectors::All } else { survivors(bytes.len(), kept_of_100, dice) };
                write(&mut image, file, *offset as usize, bytes, &sectors);
            }
            Op::Truncate { file, size } => {
                if is_durable(file) || dice.below(100) < kept_of_100 {
                    image.entry(file.clone()).or_default().resize(*size as usize, 0);
                }
            }
            Op::Delete { file } => {
                if dice.below(100) < kept_of_100 {
                    image.remove(file);
                }
            }
            Op::Sync { .. } | Op::Acknowledged(_) => {}
        }
    }
    // A new file whose first sync, which is also its folder's, has not come may not have its name yet.
    let is_named = |name: &String| before.contains_key(name) || durable.contains_key(name);
    let lost: Vec<String> = image.keys().filter(|name| !is_named(name)).cloned().collect();
    for name in lost {
        if dice.below(100) >= kept_of_100 {
            image.remove(&name);
        }
    }
    image
}

/// For each file, up to where in the log it is on disk for certain.
fn durable_lengths(log: &[Op]) -> BTreeMap<String, usize> {
    let mut lengths = BTreeMap::new();
    for op in log {
        if let Op::Sync { file, covers } = op {
            let length = lengths.entry(file.clone()).or_insert(0);
            *length = (*covers).max(*length);
        }
    }
    lengths
}

enum Sectors {
    All,
    None,
    /// One flag for each.
    Some(Vec<bool>),
}

fn survivors(length: usize, kept_of_100: u64, dice: &mut Dice) -> Sectors {
    match dice.below(100) {
        // A fifth of what is neither kept nor lost as a whole is torn.
        torn if torn < 20 => {
            let sectors = length.div_ceil(SECTOR) + 1;
            Sectors::Some((0..sectors).map(|_| dice.below(100) < kept_of_100.clamp(10, 90)).collect())
        }
        _ if dice.below(100) < kept_of_100 => Sectors::All,
        _ => Sectors::None,
    }
}

fn write(image: &mut Image, file: &str, offset: usize, bytes: &[u8], sectors: &Sectors) {
    if matches!(sectors, Sectors::None) {
        return;
    }
    let content = image.entry(file.to_owned()).or_default();
    if content.len() < offset + bytes.len() {
        content.resize(offset + bytes.len(), 0);
    }
    // Sectors are the disk's, not the write's: the first of a write may begin before it.
    let mut start = 0;
    let mut sector = 0;
    while start < bytes.len() {
        let end = bytes.len().min(start + SECTOR - (offset + start) % SECTOR);
        let kept = match sectors {
            Sectors::All => true,
            Sectors::None => false,
            Sectors::Some(flags) => flags[sector],
        };
        if kept {
            content[offset + start..offset + end].copy_from_slice(&bytes[start..end]);
        }
        (start, sector) = (end, sector + 1);
    }
}
