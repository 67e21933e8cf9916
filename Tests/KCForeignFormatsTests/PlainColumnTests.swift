import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Tables whose columns say what they mean")
struct PlainColumnTests {
    @Test(
        "Programs that are not known are read by the names of their columns, and other columns become fields",
        arguments: [
            // Safari before one-time passwords.
            ("Title,Url,Username,Password\nMail,https://a.example,ada,p\n", ["inet srvr=a.example acct=ada: p"]),
            // SafeInCloud.
            (
                "Title,Login,Password,Website,Notes\nMail,ada,p,https://a.example,n\n",
                ["genp svce=Mail acct=note (ada) desc=secure note: n", "inet srvr=a.example acct=ada: p"]
            ),
            // Passbolt.
            (
                "Title,Username,URL,Password,Notes,Group\nMail,ada,https://a.example,p,,Work\n",
                ["inet srvr=a.example acct=ada: p"]
            ),
            // Padloc.
            (
                "name,tags,url,username,password,notes\nMail,x,https://a.example,ada,p,\n",
                ["inet srvr=a.example acct=ada: p"]
            ),
            // Synology C2 Password.
            (
                "Display_Name,Login_Username,Login_Password,Login_URLs,Login_TOTP,Notes,PIN\n"
                    + "Mail,ada,p,https://a.example,JBSWY3DP,,12\n",
                [
                    "genp svce=Mail acct=PIN (ada) desc=field: 12",
                    "genp svce=a.example acct=one-time password (ada) desc=one-time password: "
                        + "otpauth://totp/Mail:ada?secret=JBSWY3DP&issuer=Mail",
                    "inet srvr=a.example acct=ada: p",
                ]
            ),
            // A table made by hand, in a country with decimal commas.
            ("Site;E-Mail;Password\na.example;ada@a.example;p\n", ["inet srvr=a.example acct=ada@a.example: p"]),
        ])
    func known(text: String, items: [String]) throws {
        let input = ForeignReading.input(Array(text.utf8))
        #expect(try KnownFormats.recognise(input).name == "csv")
        let listing = try ForeignReading.read(text, as: CSVFormat()).listing
        #expect(listing == items)
    }

    @Test(
        "A table that says too little, or something twice, is not guessed at",
        arguments: [
            "Title,Username\nMail,ada\n", "Username,Password\nada,p\n", "Title,Password\nMail,p\n",
            "Title,Username,Password,Pass\nMail,ada,p,q\n", "URL,Website,Username,Password\na,b,ada,p\n",
            "Title,Password,Salary\nMail,p,1\n",
        ])
    func unknown(text: String) throws {
        #expect(CSVProduct.of(text.prefix { $0 != "\n" }.split(separator: ",").map { $0.lowercased() }) == nil)
        #expect(throws: ForeignFailure.unknownColumns) {
            try ForeignReading.read(text, as: CSVFormat())
        }
    }
}
