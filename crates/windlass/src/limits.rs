//! `[sandbox] limits` in `windlass.toml`: how much of the machine a sandbox may use. What is not said is as the sandbox has it,
//! but for processor time, which it leaves open.

use serde::Deserialize;
use windlass_sandbox::Limits;

/// Four hours: more than an honest build spends in one process, and the end of one that spins.
const CPU_SECONDS: u64 = 4 * 60 * 60;
const MIB: u64 = 1 << 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// All processes together.
    pub memory_mib: Option<u64>,
    /// Processes and threads, all together.
    pub processes: Option<u64>,
    /// Each of `/tmp`, the home and `/dev/shm`.
    pub scratch_mib: Option<u64>,
    /// Each file.
    pub file_mib: Option<u64>,
    /// Each process, as are the following.
    pub open_files: Option<u64>,
    pub cpu_seconds: Option<u64>,
}

impl LimitsConfig {
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        let bytes = |mib: Option<u64>, default: u64| mib.map_or(default, |mib| mib.saturating_mul(MIB));
        Limits {
            memory_bytes: bytes(self.memory_mib, default.memory_bytes),
            processes: self.processes.unwrap_or(default.processes),
            file_size_bytes: bytes(self.file_mib, default.file_size_bytes),
            open_files: self.open_files.unwrap_or(default.open_files),
            cpu_seconds: Some(self.cpu_seconds.unwrap_or(CPU_SECONDS)),
            scratch_bytes: bytes(self.scratch_mib, default.scratch_bytes),
        }
    }

    /// Below these nothing runs at all, and above them a number is a slip.
    pub fn objection(&self) -> Option<String> {
        const LARGEST_MIB: u64 = 1 << 30;
        let bounds = [
            ("memory_mib", self.memory_mib, 64, LARGEST_MIB),
            ("processes", self.processes, 16, 1 << 22),
            ("scratch_mib", self.scratch_mib, 1, LARGEST_MIB),
            ("file_mib", self.file_mib, 1, LARGEST_MIB),
            ("open_files", self.open_files, 32, 1 << 20),
            ("cpu_seconds", self.cpu_seconds, 1, 1 << 32),
        ];
        let is_out = |given: Option<u64>, least, most| given.is_some_and(|given| !(least..=most).contains(&given));
        let (name, _, least, most) =
            bounds.into_iter().find(|(_, given, least, most)| is_out(*given, *least, *most))?;
        Some(format!("{name} must be between {least} and {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_the_sandbox_s_own_and_a_spinning_process_ends() {
        let expected = Limits { cpu_seconds: Some(14_400), ..Limits::default() };
        assert_eq!(LimitsConfig::default().limits(), expected);
    }

    #[test]
    fn what_is_said_holds() {
        let text =
            "memory_mib = 512\nprocesses = 64\nscratch_mib = 32\nfile_mib = 8\nopen_files = 99\ncpu_seconds = 7\n";
        let config: LimitsConfig = toml::from_str(text).expect("every field");
        assert_eq!(config.objection(), None);
        assert_eq!(
            config.limits(),
            Limits {
                memory_bytes: 512 << 20,
                processes: 64,
                file_size_bytes: 8 << 20,
                open_files: 99,
                cpu_seconds: Some(7),
                scratch_bytes: 32 << 20,
            }
        );
    }

    #[test]
    fn what_cannot_work_is_refused() {
        for text in ["memory_mib = 0", "processes = 1", "file_mib = 0", "open_files = 3", "cpu_seconds = 0"] {
            let config: LimitsConfig = toml::from_str(text).expect("a number");
            let name = text.split(' ').next().expect("a name");
            assert!(config.objection().is_some_and(|said| said.contains(name)), "{text}");
        }
        assert!(toml::from_str::<LimitsConfig>("memory = 1").is_err(), "an unknown limit is named");
    }
}
