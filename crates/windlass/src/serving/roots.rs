//! The folders in which tasks may work, tenant by tenant. All of them are looked for when the server starts: one that is not there
//! would otherwise leave its place, the first, which is meant where none is named, to the next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use windlass_domain::Tenant;

use crate::arguments::Serve;
use crate::config::Config;
use crate::exit::WrongUse;
use crate::place;

/// In the order in which the operator lists them, without links.
#[derive(Debug, Clone, Default)]
pub struct Roots(BTreeMap<Tenant, Vec<PathBuf>>);

impl Roots {
    /// The command's word before the file's, and without any, for the tenant `local`, the folder that it was started in.
    pub fn of(arguments: &Serve, config: &Config) -> Result<Self, Vec<WrongUse>> {
        let here = [PathBuf::from(".")];
        let said = match &arguments.workspace[..] {
            [] if config.file.server.workspaces.is_empty() && !config.written.is_misread("server.workspaces") => {
                &here[..]
            }
            said => said,
        };
        let (mut wrong, mut roots) = (Vec::new(), BTreeMap::new());
        match said {
            [] => roots.extend(
                listed(config, ("server", &config.file.server.workspaces), &mut wrong)
                    .map(|found| (Tenant::local(), found)),
            ),
            said => {
                let found = said
                    .iter()
                    .filter_map(|folder| place::workspace(folder, config).map_err(|bad| wrong.push(bad)).ok());
                roots.insert(Tenant::local(), found.collect());
            }
        }
        of_tenants(config, &mut roots, &mut wrong);
        if wrong.is_empty() { Ok(Self(roots)) } else { Err(wrong) }
    }

    pub fn of_tenant(&self, tenant: &Tenant) -> &[PathBuf] {
        self.0.get(tenant).map_or(&[], Vec::as_slice)
    }
}

/// What the file lists is there.
pub fn in_file(config: &Config) -> Result<(), Vec<WrongUse>> {
    let mut wrong = Vec::new();
    let _looked_at_alone = listed(config, ("server", &config.file.server.workspaces), &mut wrong);
    of_tenants(config, &mut BTreeMap::new(), &mut wrong);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn of_tenants(config: &Config, roots: &mut BTreeMap<Tenant, Vec<PathBuf>>, wrong: &mut Vec<WrongUse>) {
    for (name, tenant) in &config.file.tenants {
        let found = listed(config, (&format!("tenants.{name}"), &tenant.workspaces), wrong);
        roots.extend(found.map(|found| (Tenant::new(name), found)));
    }
}

/// None where nothing is listed.
fn listed(config: &Config, (section, folders): (&str, &[PathBuf]), wrong: &mut Vec<WrongUse>) -> Option<Vec<PathBuf>> {
    let place = || config.written.place(&format!("{section}.workspaces"));
    let real = |folder: &Path| {
        let found = place::listed(folder, config);
        found.map_err(|why| wrong.push(WrongUse::new(format!("{}: [{section}] `workspaces`: {why}", place())))).ok()
    };
    let found: Vec<PathBuf> = folders.iter().map(PathBuf::as_path).filter_map(real).collect();
    (!folders.is_empty()).then_some(found)
}
