/// A built-in admission plugin of kube-apiserver. Plugins are asked in the order in which they stand here.
///
/// Of those that are on by default two have nothing to say: PodGroupProtection is about a kind that is not served, and
/// NodeDeclaredFeatureValidator about what kubelets say of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Plugin {
    AlwaysAdmit,
    NamespaceAutoProvision,
    NamespaceLifecycle,
    NamespaceExists,
    LimitPodHardAntiAffinityTopology,
    LimitRanger,
    ServiceAccount,
    NodeRestriction,
    TaintNodesByCondition,
    AlwaysPullImages,
    ImagePolicyWebhook,
    PodSecurity,
    PodNodeSelector,
    Priority,
    DefaultTolerationSeconds,
    PodTolerationRestriction,
    EventRateLimit,
    ExtendedResourceToleration,
    DefaultStorageClass,
    StorageObjectInUseProtection,
    PodGroupProtection,
    OwnerReferencesPermissionEnforcement,
    PersistentVolumeClaimResize,
    RuntimeClass,
    CertificateApproval,
    CertificateSigning,
    ClusterTrustBundleAttest,
    CertificateSubjectRestriction,
    DefaultIngressClass,
    DenyServiceExternalIPs,
    PodTopologyLabels,
    NodeDeclaredFeatureValidator,
    PodResizeValidator,
    MutatingAdmissionPolicy,
    MutatingAdmissionWebhook,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionWebhook,
    ResourceQuota,
    AlwaysDeny,
}

/// Whether a plugin is asked where nobody says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Default {
    On,
    Off,
    /// Off, and there is nothing here that could be switched on.
    Missing,
}

const ALL: [(Plugin, &str, Default); 39] = [
    (Plugin::AlwaysAdmit, "AlwaysAdmit", Default::Off),
    (Plugin::NamespaceAutoProvision, "NamespaceAutoProvision", Default::Missing),
    (Plugin::NamespaceLifecycle, "NamespaceLifecycle", Default::On),
    (Plugin::NamespaceExists, "NamespaceExists", Default::Missing),
    (Plugin::LimitPodHardAntiAffinityTopology, "LimitPodHardAntiAffinityTopology", Default::Missing),
    (Plugin::LimitRanger, "LimitRanger", Default::On),
    (Plugin::ServiceAccount, "ServiceAccount", Default::On),
    (Plugin::NodeRestriction, "NodeRestriction", Default::Missing),
    (Plugin::TaintNodesByCondition, "TaintNodesByCondition", Default::On),
    (Plugin::AlwaysPullImages, "AlwaysPullImages", Default::Missing),
    (Plugin::ImagePolicyWebhook, "ImagePolicyWebhook", Default::Missing),
    (Plugin::PodSecurity, "PodSecurity", Default::On),
    (Plugin::PodNodeSelector, "PodNodeSelector", Default::Missing),
    (Plugin::Priority, "Priority", Default::On),
    (Plugin::DefaultTolerationSeconds, "DefaultTolerationSeconds", Default::On),
    (Plugin::PodTolerationRestriction, "PodTolerationRestriction", Default::Missing),
    (Plugin::EventRateLimit, "EventRateLimit", Default::Missing),
    (Plugin::ExtendedResourceToleration, "ExtendedResourceToleration", Default::Missing),
    (Plugin::DefaultStorageClass, "DefaultStorageClass", Default::On),
    (Plugin::StorageObjectInUseProtection, "StorageObjectInUseProtection", Default::On),
    (Plugin::PodGroupProtection, "PodGroupProtection", Default::On),
    (Plugin::OwnerReferencesPermissionEnforcement, "OwnerReferencesPermissionEnforcement", Default::Off),
    (Plugin::PersistentVolumeClaimResize, "PersistentVolumeClaimResize", Default::On),
    (Plugin::RuntimeClass, "RuntimeClass", Default::On),
    (Plugin::CertificateApproval, "CertificateApproval", Default::On),
    (Plugin::CertificateSigning, "CertificateSigning", Default::On),
    (Plugin::ClusterTrustBundleAttest, "ClusterTrustBundleAttest", Default::On),
    (Plugin::CertificateSubjectRestriction, "CertificateSubjectRestriction", Default::On),
    (Plugin::DefaultIngressClass, "DefaultIngressClass", Default::On),
    (Plugin::DenyServiceExternalIPs, "DenyServiceExternalIPs", Default::Off),
    (Plugin::PodTopologyLabels, "PodTopologyLabels", Default::On),
    (Plugin::NodeDeclaredFeatureValidator, "NodeDeclaredFeatureValidator", Default::On),
    (Plugin::PodResizeValidator, "PodResizeValidator", Default::On),
    (Plugin::MutatingAdmissionPolicy, "MutatingAdmissionPolicy", Default::On),
    (Plugin::MutatingAdmissionWebhook, "MutatingAdmissionWebhook", Default::On),
    (Plugin::ValidatingAdmissionPolicy, "ValidatingAdmissionPolicy", Default::On),
    (Plugin::ValidatingAdmissionWebhook, "ValidatingAdmissionWebhook", Default::On),
    (Plugin::ResourceQuota, "ResourceQuota", Default::On),
    (Plugin::AlwaysDeny, "AlwaysDeny", Default::Off),
];

/// Which of kube-apiserver's built-in admission plugins have a say.
///
/// The default is that of kube-apiserver: what `--enable-admission-plugins` and `--disable-admission-plugins` start from.
///
/// ```
/// use kubewright_apiserver::{AdmissionPlugins, ApiServer};
///
/// let plugins = AdmissionPlugins::new(["OwnerReferencesPermissionEnforcement"], ["ServiceAccount"])?;
/// assert!(!plugins.names().any(|name| name == "ServiceAccount"));
/// let server = ApiServer::builder().admission_plugins(plugins).build();
/// # Ok::<(), kubewright_apiserver::AdmissionPluginsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionPlugins {
    /// In the order in which they are asked.
    enabled: Vec<Plugin>,
}

/// Why a choice of admission plugins cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionPluginsError {
    /// No plugin has this name. Names are those of kube-apiserver, with its capitals.
    #[error("admission plugin {0:?} is unknown; known are {known}", known = join(AdmissionPlugins::known()))]
    Unknown(String),
    /// kube-apiserver has the plugin, off by default, and this server does not have it.
    #[error(
        "admission plugin {0:?} cannot be enabled, as this server does not have it; those it has are {there}",
        there = join(AdmissionPlugins::available())
    )]
    Missing(&'static str),
    /// The plugin is to be enabled and disabled.
    #[error("admission plugin {0:?} is both enabled and disabled; take it off one of the two lists")]
    Contradictory(&'static str),
}

// === impl AdmissionPlugins ===

impl AdmissionPlugins {
    /// The plugins that are on by default, with those that are `enabled` and without those that are `disabled`.
    ///
    /// # Errors
    /// If a name is unknown or on both lists, or a plugin is to be enabled that this server does not have. Plugins that it does
    /// not have may be disabled.
    pub fn new<E, D>(enabled: E, disabled: D) -> Result<Self, AdmissionPluginsError>
    where
        E: IntoIterator<Item: AsRef<str>>,
        D: IntoIterator<Item: AsRef<str>>,
    {
        let (enabled, disabled) = (read(enabled)?, read(disabled)?);
        for (plugin, name, default) in ALL {
            if !enabled.contains(&plugin) {
                continue;
            }
            if disabled.contains(&plugin) {
                return Err(AdmissionPluginsError::Contradictory(name));
            }
            if default == Default::Missing {
                return Err(AdmissionPluginsError::Missing(name));
            }
        }
        let is_on = |(plugin, _, default): &(Plugin, &str, Default)| {
            enabled.contains(plugin) || (*default == Default::On && !disabled.contains(plugin))
        };
        Ok(Self { enabled: ALL.iter().filter(|entry| is_on(entry)).map(|(plugin, ..)| *plugin).collect() })
    }

    /// Those that are on by default, for a server on which no controller makes service accounts.
    pub(crate) fn without_accounts() -> Self {
        let mut plugins = Self::default();
        plugins.enabled.retain(|plugin| *plugin != Plugin::ServiceAccount);
        plugins
    }

    /// The names of all plugins of kube-apiserver, in the order in which they are asked.
    pub fn known() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(_, name, _)| *name)
    }

    /// The names of the plugins that can be enabled, in the order in which they are asked.
    pub fn available() -> impl Iterator<Item = &'static str> {
        ALL.iter().filter(|(.., default)| *default != Default::Missing).map(|(_, name, _)| *name)
    }

    /// The names of the plugins that have a say, in the order in which they are asked.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        ALL.iter().filter(|(plugin, ..)| self.has(*plugin)).map(|(_, name, _)| *name)
    }

    pub(crate) fn has(&self, plugin: Plugin) -> bool {
        self.enabled.contains(&plugin)
    }

    /// The plugins that have a say, in the order in which they are asked.
    pub(super) fn iter(&self) -> impl Iterator<Item = Plugin> + '_ {
        self.enabled.iter().copied()
    }
}

impl std::default::Default for AdmissionPlugins {
    fn default() -> Self {
        let on = ALL.iter().filter(|(.., default)| *default == Default::On);
        Self { enabled: on.map(|(plugin, ..)| *plugin).collect() }
    }
}

fn read<N>(names: N) -> Result<Vec<Plugin>, AdmissionPluginsError>
where
    N: IntoIterator<Item: AsRef<str>>,
{
    let plugin = |name: &str| {
        let entry = ALL.iter().find(|(_, own, _)| *own == name);
        entry.map(|(plugin, ..)| *plugin).ok_or_else(|| AdmissionPluginsError::Unknown(name.to_owned()))
    };
    names.into_iter().map(|name| plugin(name.as_ref())).collect()
}

fn join(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    #[test]
    fn the_table_has_the_order_of_the_plugins() {
        assert!(ALL.is_sorted_by_key(|(plugin, ..)| *plugin));
        for (plugin, name, _) in ALL {
            assert_eq!(format!("{plugin:?}"), name);
        }
    }

    #[test]
    fn defaults_are_changed_by_name() {
        let default: Vec<_> = AdmissionPlugins::default().names().collect();
        assert_eq!(AdmissionPlugins::new(NONE, NONE), Ok(AdmissionPlugins::default()));
        assert!(default.contains(&"LimitRanger") && !default.contains(&"AlwaysDeny"));

        let changed =
            AdmissionPlugins::new(["AlwaysDeny"], ["LimitRanger", "NodeRestriction"]).expect("known");
        let expected: Vec<_> =
            default.into_iter().filter(|name| *name != "LimitRanger").chain(["AlwaysDeny"]).collect();
        assert_eq!(changed.names().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn wrong_choices_are_refused() {
        let unknown = AdmissionPlugins::new(["limitranger"], NONE).expect_err("refused");
        assert_eq!(unknown, AdmissionPluginsError::Unknown("limitranger".to_owned()));
        assert!(unknown.to_string().contains("NamespaceLifecycle, "), "{unknown}");
        let both = AdmissionPlugins::new(["Priority"], ["Priority"]);
        assert_eq!(both, Err(AdmissionPluginsError::Contradictory("Priority")));
        let missing = AdmissionPlugins::new(["ImagePolicyWebhook"], NONE);
        assert_eq!(missing, Err(AdmissionPluginsError::Missing("ImagePolicyWebhook")));
    }
}
