import Testing

@testable import KCRemotes

@Suite("Variables of rclone in the environment")
struct RcloneVariablesTests {
    @Test(
        "What says where a remote is and how it is opened is passed on",
        arguments: [
            "CONFIG", "CONFIG_PASS", "CONFIG_NAS_TYPE", "CONFIG_NAS_SECRET_ACCESS_KEY", "PASSWORD_COMMAND", "CA_CERT",
            "SFTP_KNOWN_HOSTS_FILE", "S3_ACCESS_KEY_ID", "TIMEOUT", "BWLIMIT",
        ])
    func connection(name: String) {
        #expect(Rclone.takes(variable: "RCLONE_" + name))
        #expect(!Rclone.takes(variable: name) && !Rclone.takes(variable: "rclone_" + name))
    }

    @Test(
        "What hides files, copies nothing or deletes some is not",
        arguments: [
            "INCLUDE", "INCLUDE_FROM", "EXCLUDE", "EXCLUDE_IF_PRESENT", "FILTER", "FILTER_FROM", "FILES_FROM",
            "MAX_SIZE", "MIN_SIZE", "MAX_AGE", "MIN_AGE", "MAX_DEPTH", "MAX_TRANSFER", "IGNORE_CASE", "DRY_RUN",
            "INTERACTIVE", "IGNORE_EXISTING", "UPDATE", "BACKUP_DIR", "SUFFIX", "DELETE_EXCLUDED", "IMMUTABLE",
            "S3_VERSIONS", "S3_VERSION_AT", "B2_VERSIONS", "HEADER", "LOG_FILE", "RC", "", "CONFIGURE",
        ])
    func filters(name: String) {
        #expect(!Rclone.takes(variable: "RCLONE_" + name))
    }
}
