internal import KCByteStreams

// Every option of rclone can be set in the environment, also one that hides files from listings, or copies nothing.

extension Rclone {
    /// True for a variable of rclone that says where a remote is, and how it is reached and opened.
    ///
    /// All others are kept from it, such as `RCLONE_EXCLUDE`, `RCLONE_MAX_SIZE`, `RCLONE_MIN_AGE` and `RCLONE_DRY_RUN`:
    /// with them, archives would seem to be gone, or to be copied.
    package static func takes(variable name: String) -> Bool {
        guard let rest = name.exact.removingPrefix("RCLONE_") else { return false }
        if connection.contains(rest.exact) || rest.exact.hasPrefix("CONFIG_") { return true }
        guard kinds.contains(where: { rest.exact.hasPrefix($0 + "_") }) else { return false }
        return !hiding.contains { rest.exact.hasSuffix($0) }
    }

    /// The configuration and its password; certificates, addresses, limits of the connection.
    private static let connection: Set<ExactText> = [
        "CONFIG", "CONFIG_PASS", "PASSWORD_COMMAND", "CA_CERT", "CLIENT_CERT", "CLIENT_KEY", "NO_CHECK_CERTIFICATE",
        "BIND", "USER_AGENT", "DISABLE_HTTP2", "DISABLE_HTTP_KEEP_ALIVES", "EXPECT_CONTINUE_TIMEOUT", "CONTIMEOUT",
        "TIMEOUT", "TPSLIMIT", "TPSLIMIT_BURST", "BWLIMIT", "BWLIMIT_FILE", "HTTP_PROXY", "DSCP",
    ]

    /// The kinds of remotes that have options in the environment, as `RCLONE_S3_ENDPOINT`.
    private static let kinds = [
        "ALIAS", "AZUREBLOB", "AZUREFILES", "B2", "BOX", "COMBINE", "CRYPT", "DRIVE", "DROPBOX", "FTP", "GCS", "HDFS",
        "JOTTACLOUD", "KOOFR", "MEGA", "ONEDRIVE", "OOS", "PCLOUD", "PROTONDRIVE", "QINGSTOR", "S3", "SFTP", "SMB",
        "STORJ", "SWIFT", "UNION", "WEBDAV",
    ]

    /// The ends of their options that show other versions of files than those of now.
    private static let hiding = ["_VERSIONS", "_VERSION_AT", "_VERSION_DELETED"]
}
