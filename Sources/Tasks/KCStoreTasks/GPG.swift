internal import KCByteStreams
internal import KCConsole
internal import KCItemSources

/// `gpg`, which opens files with the keys of the user.
enum GPG {
    /// The statuses with which the script below ends, besides those of the shell itself.
    private enum Ending {
        static let damaged: Int32 = 3
        static let agent: Int32 = 4
        static let noKey: Int32 = 5
        static let passphrase: Int32 = 6
        static let notFound: Int32 = 127
    }

    /// The content of an encrypted file.
    ///
    /// gpg ends well on a file that was cut before its first packet of data; only its status lines tell that all of it
    /// was decrypted and proved. A file may have several messages.
    ///
    /// - Parameter count: the number of bytes before the first message.
    /// - Throws: `UnopenedFile`, `ForeignFailure.needsProgram`, `StreamFailure`.
    static func decrypted(
        _ path: String, skipping count: Int = 0, environment: [String: String], limit: Int
    ) throws -> SecretBytes {
        let script = ShellScript(
            """
            command -v gpg >/dev/null || exit 127
            exec 4>&1
            lines=$(tail -c "+$2" -- "$1" 4>&- | gpg --batch --quiet --status-fd 3 --decrypt 3>&1 >&4 4>&-)
            code=$?
            [ $code -lt 126 ] || exit $code
            lines="
            $lines"
            has() { case $lines in *"
            [GNUPG:] $1"*) return 0;; esac; return 1; }
            count() { printf '%s' "$lines" | grep -c "^\\[GNUPG:\\] $1"; }
            ! has DECRYPTION_OKAY || [ "$(count DECRYPTION_OKAY)" -lt "$(count BEGIN_DECRYPTION)" ] || exit 0
            ! has DECRYPTION_KEY || exit 3
            ! has NEED_PASSPHRASE_SYM || has ENC_TO || exit 6
            ! has KEY_CONSIDERED && ! has PINENTRY_LAUNCHED && ! has 'ERROR pkdecrypt_failed' || exit 4
            ! has ENC_TO || exit 5
            exit 3
            """, [path, String(count + 1)])
        do throws(ShellCommand.Failure) {
            return try ShellCommand.output(of: script, environment: environment, limit: limit)
        } catch {
            switch error {
            case .failed(Ending.damaged): throw UnopenedFile.damaged
            case .failed(Ending.noKey): throw UnopenedFile.noKey
            case .failed(Ending.passphrase): throw UnopenedFile.needsPassphrase
            case .failed(Ending.agent): throw needed("its agent did not open the key")
            case .notStarted, .failed(Ending.notFound): throw needed("it is not installed")
            case .failed(let status): throw needed("it ended with status \(status)")
            case .tooLong(let limit): throw UnopenedFile.tooLarge(limit: limit)
            case .stream(let failure): throw failure
            }
        }
    }

    private static func needed(_ problem: String) -> ForeignFailure { .needsProgram("gpg", problem: problem) }
}
