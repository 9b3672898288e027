//! The files of tasks below the data directory, by their names. Blocking.

use std::path::{Path, PathBuf};

use super::expired::Expired;

/// Every file or folder of theirs that there is.
pub fn files_of(data_dir: &Path, expired: &Expired) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for task in &expired.tasks {
        let task = task.to_string();
        files.push(data_dir.join("traces").join(format!("{task}.jsonl")));
        // What `trace open` made of it.
        files.push(data_dir.join("traces").join(format!("{task}.html")));
        files.push(data_dir.join("traces").join(&task));
        files.push(data_dir.join("evidence").join(&task));
        files.push(data_dir.join("unsalvaged").join(&task));
        // By the names that plans gave their items.
        let plans = std::fs::read_dir(data_dir.join("artifacts")).into_iter().flatten().flatten();
        files.extend(plans.map(|plan| plan.path().join(&task)));
    }
    for execution in &expired.executions {
        files.push(data_dir.join("recordings").join(format!("{execution}.cast")));
        files.push(data_dir.join("homes").join(execution.to_string()));
        files.push(data_dir.join("homes/used").join(execution.to_string()));
    }
    files.retain(|path| path.symlink_metadata().is_ok());
    files
}

pub fn weight(path: &Path) -> u64 {
    let Ok(found) = path.symlink_metadata() else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let inside = std::fs::read_dir(path).into_iter().flatten().flatten();
    inside.map(|entry| weight(&entry.path())).sum()
}

/// Links are not followed.
pub fn remove(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata()?.is_dir() {
        true => windlass_workspace::remove_folder(path).map_err(|error| std::io::Error::other(error.to_string())),
        false => std::fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use windlass_domain::{ExecutionId, TaskId, Wall};

    use super::*;

    #[test]
    fn what_is_theirs_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, other) = (TaskId::new(Wall::from_millis(1), 1), TaskId::new(Wall::from_millis(2), 2));
        let execution = ExecutionId::new(Wall::from_millis(3), 3);
        let make = |name: String| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "12345").unwrap();
        };
        for task in [mine, other] {
            make(format!("traces/{task}.jsonl"));
            make(format!("traces/{task}.html"));
            make(format!("traces/{task}/objective.md"));
            make(format!("artifacts/plan-1/{task}/1/out.txt"));
        }
        make(format!("recordings/{execution}.cast"));
        make("keys/owner.key".to_owned());
        let expired = Expired {
            root: mine,
            tasks: BTreeSet::from([mine]),
            executions: BTreeSet::from([execution]),
            streams: BTreeSet::new(),
            digests: BTreeSet::new(),
        };
        let files = files_of(folder.path(), &expired);
        assert_eq!(files.len(), 5, "{files:?}");
        assert!(files.iter().all(|path| !path.to_string_lossy().contains(&other.to_string())));
        assert_eq!(files.iter().map(|path| weight(path)).sum::<u64>(), 25);
        files.iter().for_each(|path| remove(path).unwrap());
        assert_eq!(files_of(folder.path(), &expired), [""; 0].map(PathBuf::from));
        assert!(folder.path().join(format!("traces/{other}/objective.md")).exists());
        assert!(folder.path().join("keys/owner.key").exists());
    }
}
