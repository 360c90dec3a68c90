//! The functions that Kubernetes adds for the rules of custom resources, in the order in which it adds them. `includes` is
//! not among them: a server of version 1.37 knows it in rules that are stored, but lets nobody write new ones.

pub(super) const LIBRARIES: &[(&str, &[&str])] = &[
    ("url", &["string_to_url: (string) -> kubernetes.URL"]),
    ("getScheme", &["url_get_scheme: kubernetes.URL.() -> string"]),
    ("getHost", &["url_get_host: kubernetes.URL.() -> string"]),
    ("getHostname", &["url_get_hostname: kubernetes.URL.() -> string"]),
    ("getPort", &["url_get_port: kubernetes.URL.() -> string"]),
    ("getEscapedPath", &["url_get_escaped_path: kubernetes.URL.() -> string"]),
    ("getQuery", &["url_get_query: kubernetes.URL.() -> map(string, list(string))"]),
    ("isURL", &["is_url_string: (string) -> bool"]),
    ("find", &["string_find_string: string.(string) -> string"]),
    (
        "findAll",
        &[
            "string_find_all_string: string.(string) -> list(string)",
            "string_find_all_string_int: string.(string, int) -> list(string)",
        ],
    ),
    (
        "isSorted",
        &[
            "list_int_is_sorted_bool: list(int).() -> bool",
            "list_uint_is_sorted_bool: list(uint).() -> bool",
            "list_double_is_sorted_bool: list(double).() -> bool",
            "list_bool_is_sorted_bool: list(bool).() -> bool",
            "list_duration_is_sorted_bool: list(duration).() -> bool",
            "list_timestamp_is_sorted_bool: list(timestamp).() -> bool",
            "list_string_is_sorted_bool: list(string).() -> bool",
            "list_bytes_is_sorted_bool: list(bytes).() -> bool",
        ],
    ),
    (
        "sum",
        &[
            "list_int_sum_int: list(int).() -> int",
            "list_uint_sum_uint: list(uint).() -> uint",
            "list_double_sum_double: list(double).() -> double",
            "list_duration_sum_duration: list(duration).() -> duration",
        ],
    ),
    (
        "max",
        &[
            "list_int_max_int: list(int).() -> int",
            "list_uint_max_uint: list(uint).() -> uint",
            "list_double_max_double: list(double).() -> double",
            "list_bool_max_bool: list(bool).() -> bool",
            "list_duration_max_duration: list(duration).() -> duration",
            "list_timestamp_max_timestamp: list(timestamp).() -> timestamp",
            "list_string_max_string: list(string).() -> string",
            "list_bytes_max_bytes: list(bytes).() -> bytes",
        ],
    ),
    (
        "min",
        &[
            "list_int_min_int: list(int).() -> int",
            "list_uint_min_uint: list(uint).() -> uint",
            "list_double_min_double: list(double).() -> double",
            "list_bool_min_bool: list(bool).() -> bool",
            "list_duration_min_duration: list(duration).() -> duration",
            "list_timestamp_min_timestamp: list(timestamp).() -> timestamp",
            "list_string_min_string: list(string).() -> string",
            "list_bytes_min_bytes: list(bytes).() -> bytes",
        ],
    ),
    ("indexOf", &["list_a_index_of_int: list(A).(A) -> int"]),
    ("lastIndexOf", &["list_a_last_index_of_int: list(A).(A) -> int"]),
    (
        "path",
        &[
            "authorizer_path: kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck",
        ],
    ),
    (
        "group",
        &[
            "authorizer_group: kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck",
        ],
    ),
    (
        "serviceAccount",
        &[
            "authorizer_serviceaccount: kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer",
        ],
    ),
    (
        "resource",
        &[
            "groupcheck_resource: kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "subresource",
        &[
            "resourcecheck_subresource: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "namespace",
        &[
            "resourcecheck_namespace: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "name",
        &[
            "resourcecheck_name: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "check",
        &[
            "pathcheck_check: kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision",
            "resourcecheck_check: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision",
        ],
    ),
    ("errored", &["decision_errored: kubernetes.authorization.Decision.() -> bool"]),
    ("error", &["decision_error: kubernetes.authorization.Decision.() -> string"]),
    ("allowed", &["decision_allowed: kubernetes.authorization.Decision.() -> bool"]),
    ("reason", &["decision_reason: kubernetes.authorization.Decision.() -> string"]),
    (
        "fieldSelector",
        &[
            "authorizer_fieldselector: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "labelSelector",
        &[
            "authorizer_labelselector: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    ("optional.of", &["optional_of: (V) -> optional(V)"]),
    ("optional.ofNonZeroValue", &["optional_ofNonZeroValue: (V) -> optional(V)"]),
    ("optional.none", &["optional_none: () -> optional(V)"]),
    ("value", &["optional_value: optional(V).() -> V"]),
    ("hasValue", &["optional_hasValue: optional(V).() -> bool"]),
    ("or", &["optional_or_optional: optional(V).(optional(V)) -> optional(V)"]),
    ("orValue", &["optional_orValue_value: optional(V).(V) -> V"]),
    ("_?._", &["select_optional_field: (dyn, string) -> optional(V)"]),
    (
        "_[?_]",
        &[
            "list_optindex_optional_int: (list(V), int) -> optional(V)",
            "optional_list_optindex_optional_int: (optional(list(V)), int) -> optional(V)",
            "map_optindex_optional_value: (map(K, V), K) -> optional(V)",
            "optional_map_optindex_optional_value: (optional(map(K, V)), K) -> optional(V)",
        ],
    ),
    (
        "_[_]",
        &[
            "optional_list_index_int: (optional(list(V)), int) -> optional(V)",
            "optional_map_index_value: (optional(map(K, V)), K) -> optional(V)",
        ],
    ),
    ("last", &["list_last: list(V).() -> optional(V)"]),
    ("first", &["list_first: list(V).() -> optional(V)"]),
    ("optional.unwrap", &["optional_unwrap: (list(optional(V))) -> list(V)"]),
    ("unwrapOpt", &["optional_unwrapOpt: list(optional(V)).() -> list(V)"]),
    ("quantity", &["string_to_quantity: (string) -> kubernetes.Quantity"]),
    ("isQuantity", &["is_quantity_string: (string) -> bool"]),
    ("sign", &["quantity_sign: (kubernetes.Quantity) -> int"]),
    ("isGreaterThan", &["quantity_is_greater_than: kubernetes.Quantity.(kubernetes.Quantity) -> bool"]),
    ("isLessThan", &["quantity_is_less_than: kubernetes.Quantity.(kubernetes.Quantity) -> bool"]),
    ("compareTo", &["quantity_compare_to: kubernetes.Quantity.(kubernetes.Quantity) -> int"]),
    ("asApproximateFloat", &["quantity_get_float: kubernetes.Quantity.() -> double"]),
    ("asInteger", &["quantity_get_int: kubernetes.Quantity.() -> int"]),
    ("isInteger", &["quantity_is_integer: kubernetes.Quantity.() -> bool"]),
    (
        "add",
        &[
            "quantity_add: kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            "quantity_add_int: kubernetes.Quantity.(int) -> kubernetes.Quantity",
        ],
    ),
    (
        "sub",
        &[
            "quantity_sub: kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            "quantity_sub_int: kubernetes.Quantity.(int) -> kubernetes.Quantity",
        ],
    ),
    ("charAt", &["string_char_at_int: string.(int) -> string"]),
    (
        "indexOf",
        &[
            "string_index_of_string: string.(string) -> int",
            "string_index_of_string_int: string.(string, int) -> int",
        ],
    ),
    (
        "lastIndexOf",
        &[
            "string_last_index_of_string: string.(string) -> int",
            "string_last_index_of_string_int: string.(string, int) -> int",
        ],
    ),
    ("lowerAscii", &["string_lower_ascii: string.() -> string"]),
    (
        "replace",
        &[
            "string_replace_string_string: string.(string, string) -> string",
            "string_replace_string_string_int: string.(string, string, int) -> string",
        ],
    ),
    (
        "split",
        &[
            "string_split_string: string.(string) -> list(string)",
            "string_split_string_int: string.(string, int) -> list(string)",
        ],
    ),
    (
        "substring",
        &[
            "string_substring_int: string.(int) -> string",
            "string_substring_int_int: string.(int, int) -> string",
        ],
    ),
    ("trim", &["string_trim: string.() -> string"]),
    ("upperAscii", &["string_upper_ascii: string.() -> string"]),
    ("format", &["string_format: string.(list(dyn)) -> string"]),
    ("strings.quote", &["strings_quote: (string) -> string"]),
    ("join", &["list_join: list(string).() -> string", "list_join_string: list(string).(string) -> string"]),
    ("sets.contains", &["list_sets_contains_list: (list(T), list(T)) -> bool"]),
    ("sets.equivalent", &["list_sets_equivalent_list: (list(T), list(T)) -> bool"]),
    ("sets.intersects", &["list_sets_intersects_list: (list(T), list(T)) -> bool"]),
    ("ip", &["string_to_ip: (string) -> net.IP"]),
    ("family", &["ip_family: net.IP.() -> int"]),
    ("ip.isCanonical", &["ip_is_canonical: (string) -> bool"]),
    ("isUnspecified", &["ip_is_unspecified: net.IP.() -> bool"]),
    ("isLoopback", &["ip_is_loopback: net.IP.() -> bool"]),
    ("isLinkLocalMulticast", &["ip_is_link_local_multicast: net.IP.() -> bool"]),
    ("isLinkLocalUnicast", &["ip_is_link_local_unicast: net.IP.() -> bool"]),
    ("isGlobalUnicast", &["ip_is_global_unicast: net.IP.() -> bool"]),
    ("isIP", &["is_ip: (string) -> bool"]),
    ("string", &["ip_to_string: (net.IP) -> string"]),
    ("cidr", &["string_to_cidr: (string) -> net.CIDR"]),
    (
        "containsIP",
        &[
            "cidr_contains_ip_string: net.CIDR.(string) -> bool",
            "cidr_contains_ip_ip: net.CIDR.(net.IP) -> bool",
        ],
    ),
    (
        "containsCIDR",
        &[
            "cidr_contains_cidr_string: net.CIDR.(string) -> bool",
            "cidr_contains_cidr: net.CIDR.(net.CIDR) -> bool",
        ],
    ),
    ("ip", &["cidr_ip: net.CIDR.() -> net.IP"]),
    ("prefixLength", &["cidr_prefix_length: net.CIDR.() -> int"]),
    ("masked", &["cidr_masked: net.CIDR.() -> net.CIDR"]),
    ("isCIDR", &["is_cidr: (string) -> bool"]),
    ("string", &["cidr_to_string: (net.CIDR) -> string"]),
    ("validate", &["format-validate: kubernetes.NamedFormat.(string) -> optional(list(string))"]),
    ("format.named", &["format-named: (string) -> optional(kubernetes.NamedFormat)"]),
    ("format.dns1123Label", &["format.dns1123Label: () -> kubernetes.NamedFormat"]),
    ("format.dns1123Subdomain", &["format.dns1123Subdomain: () -> kubernetes.NamedFormat"]),
    ("format.dns1035Label", &["format.dns1035Label: () -> kubernetes.NamedFormat"]),
    ("format.qualifiedName", &["format.qualifiedName: () -> kubernetes.NamedFormat"]),
    ("format.dns1123LabelPrefix", &["format.dns1123LabelPrefix: () -> kubernetes.NamedFormat"]),
    ("format.dns1123SubdomainPrefix", &["format.dns1123SubdomainPrefix: () -> kubernetes.NamedFormat"]),
    ("format.dns1035LabelPrefix", &["format.dns1035LabelPrefix: () -> kubernetes.NamedFormat"]),
    ("format.labelValue", &["format.labelValue: () -> kubernetes.NamedFormat"]),
    ("format.uri", &["format.uri: () -> kubernetes.NamedFormat"]),
    ("format.uuid", &["format.uuid: () -> kubernetes.NamedFormat"]),
    ("format.byte", &["format.byte: () -> kubernetes.NamedFormat"]),
    ("format.date", &["format.date: () -> kubernetes.NamedFormat"]),
    ("format.datetime", &["format.datetime: () -> kubernetes.NamedFormat"]),
    (
        "cel.@mapInsert",
        &[
            "@mapInsert_map_key_value: (map(K, V), K, V) -> map(K, V)",
            "@mapInsert_map_map: (map(K, V), map(K, V)) -> map(K, V)",
        ],
    ),
    (
        "semver",
        &[
            "string_to_semver: (string) -> kubernetes.Semver",
            "string_bool_to_semver: (string, bool) -> kubernetes.Semver",
        ],
    ),
    ("isSemver", &["is_semver_string: (string) -> bool", "is_semver_string_bool: (string, bool) -> bool"]),
    ("isGreaterThan", &["semver_is_greater_than: kubernetes.Semver.(kubernetes.Semver) -> bool"]),
    ("isLessThan", &["semver_is_less_than: kubernetes.Semver.(kubernetes.Semver) -> bool"]),
    ("compareTo", &["semver_compare_to: kubernetes.Semver.(kubernetes.Semver) -> int"]),
    ("major", &["semver_major: kubernetes.Semver.() -> int"]),
    ("minor", &["semver_minor: kubernetes.Semver.() -> int"]),
    ("patch", &["semver_patch: kubernetes.Semver.() -> int"]),
    ("slice", &["list_slice: list(T).(int, int) -> list(T)"]),
    (
        "flatten",
        &["list_flatten: list(list(T)).() -> list(T)", "list_flatten_int: list(dyn).(int) -> list(dyn)"],
    ),
    (
        "sort",
        &[
            "list_int_sort: list(int).() -> list(int)",
            "list_uint_sort: list(uint).() -> list(uint)",
            "list_double_sort: list(double).() -> list(double)",
            "list_bool_sort: list(bool).() -> list(bool)",
            "list_google.protobuf.Duration_sort: list(duration).() -> list(duration)",
            "list_google.protobuf.Timestamp_sort: list(timestamp).() -> list(timestamp)",
            "list_string_sort: list(string).() -> list(string)",
            "list_bytes_sort: list(bytes).() -> list(bytes)",
        ],
    ),
    (
        "@sortByAssociatedKeys",
        &[
            "list_int_sortByAssociatedKeys: list(T).(list(int)) -> list(T)",
            "list_uint_sortByAssociatedKeys: list(T).(list(uint)) -> list(T)",
            "list_double_sortByAssociatedKeys: list(T).(list(double)) -> list(T)",
            "list_bool_sortByAssociatedKeys: list(T).(list(bool)) -> list(T)",
            "list_google.protobuf.Duration_sortByAssociatedKeys: list(T).(list(duration)) -> list(T)",
            "list_google.protobuf.Timestamp_sortByAssociatedKeys: list(T).(list(timestamp)) -> list(T)",
            "list_string_sortByAssociatedKeys: list(T).(list(string)) -> list(T)",
            "list_bytes_sortByAssociatedKeys: list(T).(list(bytes)) -> list(T)",
        ],
    ),
    ("lists.range", &["lists_range: (int) -> list(int)"]),
    ("reverse", &["list_reverse: list(T).() -> list(T)"]),
    ("distinct", &["list_distinct: list(T).() -> list(T)"]),
];

/// What there is besides where a patch is made.
pub(super) const OF_PATCHES: &[(&str, &[&str])] =
    &[("jsonpatch.escapeKey", &["string_jsonpatch_escapeKey_string: (string) -> string"])];
