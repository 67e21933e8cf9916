internal import KCByteStreams
internal import KCConsole
internal import KCItemSources

/// `zbarimg`, which reads the QR codes in a picture.
enum QRScanner {
    private enum Ending {
        static let notFound: Int32 = 127
        static let noCode: Int32 = 4
    }

    /// The texts of the codes, one a line.
    ///
    /// The picture is read from standard input with its kind stated, so that ImageMagick, which zbarimg uses, takes
    /// nothing in the path for an instruction. zbarimg would announce what it finds on the bus, where others listen.
    ///
    /// - Throws: `ForeignFailure` (`needsProgram`, `damaged`, `limit`), `StreamFailure`.
    static func text(in path: String, environment: [String: String], limit: Int) throws -> SecretBytes {
        let script = ShellScript(
            """
            command -v zbarimg >/dev/null || exit 127
            case $(head -c 1 -- "$1" | od -An -tx1) in *ff*) kind=jpeg;; *) kind=png;; esac
            exec zbarimg --quiet --raw --nodbus -Sdisable -Sqrcode.enable "$kind:-" <"$1" 2>/dev/null
            """, [path])
        do {
            let text = try ShellCommand.output(of: script, environment: environment, limit: limit)
            // A picture of which it could read nothing, or that is over its limits, ends zbarimg with 0 and without a word.
            guard !text.isEmpty else { throw needed("it could not read the picture") }
            return text
        } catch let failure as ShellCommand.Failure {
            switch failure {
            case .failed(Ending.noCode): throw ForeignFailure.damaged("there is no QR code in it that can be read")
            case .notStarted, .failed(Ending.notFound):
                throw needed("it is not installed; on Debian it is in the package 'zbar-tools'")
            case .failed(let status): throw needed("it ended with status \(status)")
            case .tooLong(let limit):
                throw ForeignFailure.limit(
                    "bytes of text in QR codes", found: UInt64(limit) + 1, allowed: UInt64(limit))
            case .stream(let stream): throw stream
            }
        }
    }

    private static func needed(_ problem: String) -> ForeignFailure { .needsProgram("zbarimg", problem: problem) }
}
