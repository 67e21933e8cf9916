import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The packages are made with another program instead of kcbackup, so that no release build is needed.
///
/// `make test-deb` tests the real packages.
@Suite("Debian packages", .waitsForPrograms)
struct PackageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a bash script in an empty folder.
    ///
    /// The function `stage FOLDER` fills the folder as `make stage` would, and `project` is the folder of
    /// Package.swift. An attempt to build anything fails, since `PATH` has no Swift.
    private func shell(_ script: String) throws -> ExternalProgram.Outcome { try Self.shell(script, in: folder) }

    private static func shell(_ script: String, in folder: TemporaryFolder) throws -> ExternalProgram.Outcome {
        let helper = """
            set -euo pipefail
            samples="Samples/README.md Samples/keychain.jsonl Samples/unattended"
            stage() {
              make --silent -C "$project" list --eval='list:; @printf "%s\\n" $(BINARIES) $(MANUAL) $(COMPLETIONS)' >list
              while read -r file; do
                mkdir -p "$1/${file%/*}"
                case $file in bin/* | libexec/*) cp /usr/bin/jq "$1/$file" ;; *) printf '#!/bin/bash\\n' >"$1/$file" ;; esac
              done <list
              # In this order nothing looks out of date.
              while read -r file; do touch --reference=list "$1/$file"; done <list
            }

            """
        let environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "project": Project.folder.path,
            "KCBACKUP": try ExternalProgram.built("kcbackup"),
        ]
        return try ExternalProgram.run(
            "timeout", ["300", "bash", "-c", helper + script], environment: environment, in: folder.path)
    }

    /// A folder with what is staged in `stage`, a package of it in `out`, its files in `root`, and in `local` what
    /// `make install` puts there.
    private static let made = Result {
        let folder = try TemporaryFolder.untilExit()
        let outcome = try shell(
            """
            stage "$PWD/stage"
            for page in stage/share/man/man?/*; do
              cp "$project/docs/man/${page##*/}" "$page"
              touch --reference=list "$page"
            done
            umask 077
            SOURCE_DATE_EPOCH=1000000000 DEBEMAIL=ada@example.org DEBFULLNAME="Ada L." \
              make -C "$project" deb STAGE="$PWD/stage" PACKAGES="$PWD/out" >&2
            dpkg-deb --extract out/*.deb root
            make -C "$project" install STAGE="$PWD/stage" PREFIX="$PWD/local" >&2
            """, in: folder)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        return folder
    }

    @Test("A package contains everything that make stage makes, in Debian's places, owned by root and readable by all")
    func contents() throws {
        let made = try Self.made.get()
        let outcome = try Self.shell(
            "TZ=UTC dpkg-deb --contents out/kcbackup_*.deb | awk '{ print $1, $2, $4, $6 }'", in: made)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let program = /\/bin\/|\/libexec\/|recover\.sh/
        for line in lines {
            let mode =
                line.hasSuffix("/bin/age-plugin-kcbackup")
                ? "lrwxrwxrwx"
                : line.hasSuffix("/") ? "drwxr-xr-x" : line.contains(program) ? "-rwxr-xr-x" : "-rw-r--r--"
            #expect(line.hasPrefix("\(mode) root/root 2001-09-09 ./"), "\(line)")
        }
        let staged = String(decoding: try made.read("list"), as: UTF8.self).split(separator: "\n").map { file in
            String(file).replacing("zsh/site-functions", with: "zsh/vendor-completions")
                + (file.contains("/man/") ? ".gz" : "")
        }
        let folders = try ["docs", "docs/decisions", "docs/pictures", "Samples/unattended"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: Project.path(folder))
                .filter { folder != "docs" || $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        let others = [
            "README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "Samples/README.md",
            "Samples/keychain.jsonl", "changelog", "copyright",
        ]
        let documents = (folders + others).map { "share/doc/kcbackup/" + $0 }
        // Whether a document is compressed depends on its size.
        let expected = staged + documents + ["bin/age-plugin-kcbackup", "share/kcbackup/recover.sh"]
        let files = lines.filter { !$0.hasSuffix("/") }.map { $0.replacing(/^.* \.\/usr\//, with: "") }
            .map { $0.contains("/doc/") ? $0.replacing(/\.gz$/, with: "") : $0 }
        #expect(files.sorted() == expected.sorted(), "\(outcome.errorText)")
    }

    @Test("Every document that a manual page names is installed under that name, by the package and by make install")
    func namedDocuments() throws {
        let outcome = try Self.shell(
            """
            named() { sed -n 's,^\\.\\(It \\)\\?Pa \\([^ ]*share/doc/kcbackup[^ ]*\\).*,\\2,p'; }
            zcat root/usr/share/man/man?/* | named | sort -u | while read -r file; do ls -d "root$file"; done
            cat local/share/man/man?/* | named | sort -u | while read -r file; do ls -d "$file"; done | sed "s,^$PWD/,,"
            make -C "$project" install STAGE="$PWD/stage" PREFIX="$PWD/gone" >&2
            make -C "$project" uninstall STAGE="$PWD/stage" PREFIX="$PWD/gone" >&2
            find gone -type f
            """, in: Self.made.get())
        let files = outcome.text.split(separator: "\n").map(String.init)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(files.contains("root/usr/share/doc/kcbackup/docs/import.md.gz"), "\(outcome.text)")
        #expect(files.contains("local/share/doc/kcbackup/docs/import.md"))
        #expect(files.count >= 10 && files.allSatisfy { $0.contains("/doc/kcbackup") })
    }

    @Test("Every link of an installed document leads to an installed file")
    func links() throws {
        let outcome = try Self.shell(
            """
            for folder in root/usr local; do
              find "$folder/share/doc" -name '*.md*' | while read -r page; do
                zcat -f "$page" | { grep -o '](\\(\\.\\./\\)*[A-Za-z0-9][A-Za-z/0-9.-]*[)#]' || true; } | tr -d '](#)' \\
                  | while read -r link; do
                    [ -e "${page%/*}/$link" ] && echo "$folder" || echo "$page: $link"
                  done
              done
            done | sort -u
            """, in: Self.made.get())
        #expect(outcome.text == "local\nroot/usr\n", "\(outcome.errorText)")
    }

    @Test(
        "The same programs yield the same packages, byte for byte, whenever and wherever they are made",
        .enabled(if: Environment.has("PACKAGES", "all"), "'make proof' makes these packages"))
    func reproducible() throws {
        let outcome = try shell(
            """
            export SOURCE_DATE_EPOCH=1000000000
            stage "$PWD/stage"
            make -C "$project" deb tarball STAGE="$PWD/stage" PACKAGES="$PWD/out" >&2
            mkdir "another place"
            (cd "$project" && cp -R --parents Makefile Package.swift .ci docs *.md $samples Sources/Programs/kcbackup "$OLDPWD/another place")
            stage "another place/stage"
            cd "another place"
            # A build replaces earlier versions.
            mkdir out
            touch out/kcbackup_0.0.1_amd64.deb out/kcbackup-0.0.1-linux-x86_64.tar.gz
            umask 027
            export TZ=Asia/Kathmandu LANG=C.UTF-8 DESTDIR=/nowhere PREFIX=/nowhere
            make deb tarball STAGE=stage PACKAGES=out >&2
            ls out
            cmp out/*.deb ../out/*.deb
            cmp out/*.tar.gz ../out/*.tar.gz
            """)
        let packages = outcome.text.split(separator: "\n").filter { $0.contains(Program.version) }
        #expect(packages.count == 2)
        #expect(outcome.text.split(separator: "\n").count == 4, "\(outcome.text)")
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }

    @Test("The package has the program's version, and depends on the versions of the libraries that it was linked with")
    func control() throws {
        let outcome = try Self.shell(
            """
            dpkg-deb --field out/*.deb Version Maintainer Depends
            ls out/*.deb
            dpkg --print-architecture
            zcat root/usr/share/doc/kcbackup/changelog.gz
            head -c 3 root/usr/share/bash-completion/completions/kcbackup
            """, in: Self.made.get())
        let architecture = outcome.text.split(separator: "\n").dropFirst(4).first ?? "none"
        let expected = """
            Version: \(Program.version)
            Maintainer: Ada L. <ada@example.org>
            Depends: libc6 (>= …), libjq1 (>= …), libarchive13, libgcrypt20, libseccomp2, libyaml-0-2, libzxcvbn0
            out/kcbackup_\(Program.version)_\(architecture).deb
            \(architecture)
            kcbackup (\(Program.version)) unstable; urgency=medium

              * Version \(Program.version). CHANGELOG.md.gz beside this file says what changed.

             -- Ada L. <ada@example.org>  Sun, 09 Sep 2001 01:46:40 +0000

            """
        #expect(outcome.text.replacing(/>= [0-9][^)]*/, with: ">= …") == expected, "\(outcome.errorText)")
    }

    @Test("Checksums cover all that is published, are signed by a key of ssh, and an earlier signature is removed")
    func signed() throws {
        let outcome = try shell(
            """
            mkdir out
            version=$(bash -c '. "$project/.ci/package/common.sh" && version')
            echo deb >"out/kcbackup_${version}_amd64.deb"
            echo tar >"out/kcbackup-$version-linux-x86_64.tar.gz"
            ssh-keygen -q -t ed25519 -N "" -f key
            sign() { "$project/.ci/package/sign" out "$@" 2>&1 | sed "s,${version//./[.]},VERSION,g; s,.*/sign: ,," || true; }
            sign key
            echo bill >"out/kcbackup-$version-linux-x86_64.cdx.json"
            sign key
            echo "ada@example.org $(cat key.pub)" >allowed
            cd out
            ssh-keygen -q -Y verify -f ../allowed -I ada@example.org -n kcbackup-release -s SHA256SUMS.sig <SHA256SUMS
            sha256sum --check --quiet SHA256SUMS
            ! ssh-keygen -q -Y verify -f ../allowed -I ada@example.org -n git -s SHA256SUMS.sig <SHA256SUMS
            cd ..
            sign | tail -n 1
            """)
        let expected = """
            a Debian package, a tarball and a bill of materials of version VERSION are needed in \(folder.path)/out
            SHA256SUMS
            SHA256SUMS.sig
            kcbackup-VERSION-linux-x86_64.cdx.json
            kcbackup-VERSION-linux-x86_64.tar.gz
            kcbackup_VERSION_amd64.deb
            kcbackup_VERSION_amd64.deb

            """
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text == expected)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/out/SHA256SUMS.sig"))
    }

    @Test("A program that needs libraries of the Swift toolchain is not packaged")
    func toolchainLibraries() throws {
        let outcome = try shell(
            """
            stage "$PWD/stage"
            cp "$KCBACKUP" stage/bin/kcbackup
            touch --reference=list stage/bin/kcbackup
            export SOURCE_DATE_EPOCH=1000000000
            make -C "$project" deb STAGE="$PWD/stage" PACKAGES="$PWD/out" >&2 && echo made
            """)
        #expect(outcome.status == 2)
        #expect(outcome.text == "")
        #expect(outcome.errorText.contains("bin/kcbackup: it needs libraries of the Swift toolchain\n"))
    }

    @Test("Sources without a commit or SOURCE_DATE_EPOCH are not packaged, since the result is not reproducible")
    func noDate() throws {
        let outcome = try shell(
            """
            mkdir copy
            (cd "$project" && cp -R --parents Makefile Package.swift .ci docs *.md $samples Sources/Programs "$OLDPWD/copy")
            stage copy/stage
            cd copy
            make deb STAGE=stage PACKAGES=out 2>&1 | grep -A 1 "git gives no date" || true
            SOURCE_DATE_EPOCH=yesterday make tarball STAGE=stage PACKAGES=out 2>&1 | grep "must be a number" || true
            ls out
            """)
        let complaint = """
            .ci/package/build-deb: git gives no date for these sources
            hint: set SOURCE_DATE_EPOCH, in seconds since 1970
            .ci/package/build-tarball: SOURCE_DATE_EPOCH must be a number of seconds, and it is 'yesterday'
            deb
            tarball

            """
        #expect(outcome.text == complaint, "\(outcome.errorText)")
    }

    @Test("The copyright file names every package that the programs are linked with, and contains its license")
    func licences() throws {
        let text = try Project.text(".ci/package/copyright")
        let packages = try Project.text("Package.swift").matches(of: /\.package\(url: "[^"]*\/([^"\/]+)"/)
        #expect(!packages.isEmpty)
        for package in packages { #expect(text.contains("\nFiles: \(package.1)/*\n")) }
        let paragraphs = text.components(separatedBy: "\n\n")
        let named = paragraphs.filter { $0.hasPrefix("Files: ") }.compactMap { $0.firstMatch(of: /\nLicense: (.*)/)?.1 }
        let explained = paragraphs.compactMap { $0.firstMatch(of: /^License: (.*)\n\ /)?.1 }
        #expect(Set(named) == Set(explained))
        #expect(try text.contains(licence(in: Project.text("LICENSE"))))
    }

    /// The terms of the license, formatted as in a copyright file of Debian.
    private func licence(in text: String) -> String {
        let terms = text.components(separatedBy: "\n\n").dropFirst(2).joined(separator: "\n\n")
        return terms.trimmingCharacters(in: .newlines).components(separatedBy: "\n")
            .map { $0.isEmpty ? " ." : " " + $0 }.joined(separator: "\n")
    }
}
