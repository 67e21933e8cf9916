internal import KCByteStreams

/// A program's secrets in a home, and what happens to them.
package struct HomeSource: Sendable {
    /// The name in tables and in JSON.
    package let title: String
    /// The first one that fits an entry decides.
    let rules: [HomeRule]

    init(_ title: String, _ rules: [HomeRule]) {
        self.title = title
        self.rules = rules
    }
}

/// Which files of a home hold secrets: everything that a backup of a home takes, and everything that may be restored
/// into one.
///
/// Paths are those that the programs use if no variable of the environment says otherwise. A file that is not here is
/// neither read nor written. docs/home.md has the same list.
package enum HomeTable {
    package static let sources: [HomeSource] =
        [
            HomeSource("SSH", ssh), HomeSource("GnuPG", gnuPG), HomeSource("pass", passwordStores),
            HomeSource("age and SOPS", age),
        ] + [
            HomeSource(
                "netrc",
                [
                    .take(".netrc", clear: .passwords), .take(".authinfo", clear: .passwords), .take(".authinfo.gpg"),
                ]),
            HomeSource(
                "Git", [".git-credentials", ".config/git/credentials"].map { .take($0, clear: .passwords) }),
            HomeSource(
                "databases", [.take(".pgpass", clear: .settings), .take(".my.cnf", clear: .words(["password"]))]),
            HomeSource("containers", containers), HomeSource("clouds", clouds), HomeSource("code hosts", codeHosts),
            HomeSource("packages", packages), HomeSource("backups and copies", copies),
            HomeSource("networks", [.take(".cert/**")]), CredentialTable.ofUser,
            HomeSource("flatpak keyrings", flatpak),
            HomeSource("desktop keyrings", desktop),
        ]

    private static let ssh: [HomeRule] = [
        // ssh-agent of OpenSSH 10.1 and later has its sockets there.
        .leave(".ssh/agent", .made), .leave(".ssh/rc", .code),
        .take(".ssh/config", isSecret: false), .take(".ssh/known_hosts*", isSecret: false),
        .take(".ssh/authorized_keys*", isSecret: false), .take(".ssh/*.pub", isSecret: false),
        .take(".ssh/**", clear: .privateKey),
    ]

    private static let gnuPG: [HomeRule] = [
        .leave(".gnupg/random_seed", .made), .leave(".gnupg/crls.d", .made), .leave(".gnupg/.#lk*", .passing),
        // The keys of keyboxd. A journal belongs to a change that is under way; without one, the database is whole.
        .leave(".gnupg/public-keys.d/pubring.db-*", .passing), .leave(".gnupg/tofu.db-*", .passing),
        .take(".gnupg/public-keys.d/pubring.db", limit: HomeFileRule.ringLimit, isDatabase: true),
        .take(".gnupg/tofu.db", limit: HomeFileRule.ringLimit, isDatabase: true),
        .take(".gnupg/*.kbx", limit: HomeFileRule.ringLimit), .take(".gnupg/*.gpg", limit: HomeFileRule.ringLimit),
        .take(".gnupg/**"),
    ]

    private static let passwordStores: [HomeRule] = [
        .leave(".password-store/.extensions", .code),
        .take(".password-store/**"),
        .take(".local/share/gopass/stores/**"),
        .take(".config/gopass/**"),
        .take(".passage/store/**"),
        .take(".passage/identities", clear: .words(["AGE-SECRET-KEY-"])),
    ]

    private static let age: [HomeRule] = [
        ".config/sops/age/keys.txt", ".config/age/**", ".age/**",
    ].map { .take($0, clear: .words(["AGE-SECRET-KEY-"])) }

    private static let containers: [HomeRule] = [
        .take(".docker/config.json", clear: .words(["\"auth\"", "\"identitytoken\""])),
        .take(".config/containers/auth.json", clear: .words(["\"auth\"", "\"identitytoken\""])),
        .take(".config/helm/registry/config.json", clear: .words(["\"auth\""])),
        .take(".kube/config", clear: .words(["token:", "password:", "client-key-data:"])),
    ]

    private static let clouds: [HomeRule] =
        [
            .leave(".aws/sso", .shortLived), .leave(".aws/cli", .shortLived),
            .take(".aws/credentials", clear: .settings), .take(".aws/config", clear: .words(["aws_secret_access_key"])),
            .leave(".config/gcloud/access_tokens.db", .shortLived),
            .take(".config/gcloud/credentials.db", isDatabase: true, clear: .always),
            .take(".config/gcloud/application_default_credentials.json", clear: .always),
            .take(".config/gcloud/legacy_credentials/**", clear: .always),
            .take(".config/gcloud/configurations/**"),
            .take(".azure/msal_token_cache.json", clear: .always), .take(".azure/azureProfile.json"),
            .take(".azure/service_principal_entries.json", clear: .always),
            .take(".oci/config"), .take(".oci/*.pem", clear: .privateKey),
        ]
        + [
            ".config/hcloud/cli.toml", ".config/doctl/config.yaml", ".terraform.d/credentials.tfrc.json",
            ".vault-token", ".config/scw/config.yaml", ".fly/config.yml",
        ].map { .take($0, clear: .always) }

    private static let codeHosts: [HomeRule] = [
        .take(".config/gh/hosts.yml", clear: .words(["oauth_token:"])),
        .take(".config/glab-cli/config.yml", clear: .words(["token: "])),
        .take(".config/tea/config.yml", clear: .words(["token: "])),
    ]

    private static let packages: [HomeRule] = [
        .take(".npmrc", clear: .words(["_authToken", "_password", "_auth="])),
        .take(".pypirc", clear: .words(["password"])),
        .take(".cargo/credentials.toml", clear: .settings), .take(".cargo/credentials", clear: .settings),
        .take(".gem/credentials", clear: .always), .take(".config/composer/auth.json", clear: .always),
        .take(".m2/settings.xml", clear: .words(["<password>"])), .take(".m2/settings-security.xml"),
    ]

    private static let copies: [HomeRule] =
        [".config/rclone/rclone.conf", ".rclone.conf"].map {
            .take($0, clear: .words(["pass = ", "token = ", "key = "]))
        }
        + [.take(".config/borg/keys/**"), .take(".s3cfg", clear: .words(["secret_key = "]))]

    private static let flatpak: [HomeRule] = [
        // They open with a secret of the portal, which is an item of the desktop keyring.
        .take(".var/app/*/data/keyrings/**", limit: HomeFileRule.ringLimit)
    ]

    private static let desktop: [HomeRule] = [
        .leave(".local/share/keyrings", .keyring), .leave(".local/share/kwalletd", .keyring),
    ]
}

extension HomeTable {
    /// The rule by which a file with this path is restored; nil if none takes it.
    package static func rule(for path: HomePath) -> HomeFileRule? {
        if path.names.contains(where: { isPassing($0) || isHistory($0) }) { return nil }
        for rule in path.root.sources.lazy.flatMap(\.rules) {
            switch rule.treatment {
            case .taken(let file): if rule.pattern.matches(path) { return file }
            case .left: if rule.pattern.covers(path) { return nil }
            }
        }
        return nil
    }

    /// True for the name of the history of a store, or of a part of one: its hooks are programs that git runs.
    static func isHistory(_ name: String) -> Bool { name.exact == ".git" }

    /// True for the name of a lock, a temporary file or a copy that an editor left.
    static func isPassing(_ name: String) -> Bool {
        [".lock", "~", ".swp", ".tmp"].contains { name.exact.hasSuffix($0) }
    }
}
