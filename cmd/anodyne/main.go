// Anodyne is a pain-management data platform in one binary.
//
// Usage:
//
//	anodyne serve      serve the API
//	anodyne demo       serve a demo with synthetic patients
//	anodyne client     create, list, rotate and revoke API clients; set their keys and tier
//	anodyne user       manage portal members
//	anodyne import     import patients and clinical data from files
//	anodyne export     write patients and clinical data to files for research
//	anodyne migrate    migrate the database schema to this version
//	anodyne backup     back up the database to a file, while servers run
//	anodyne restore    restore a backup into a new database of either engine
//	anodyne rekey      encrypt a SQLite file, or change its key
//	anodyne check      check the database and verify the audit seal
//	anodyne seal       accept audit logs that differ after an intended restore
//	anodyne health     check whether the server on this machine is alive
//	anodyne version    print the version and, with --licenses, all licences
//
// Every command has a --help flag. Each flag --some-name can also be set by the
// environment variable ANODYNE_SOME_NAME.
package main

import (
	"context"

	"anodyne.example/anodyne/internal/cli"
)

// version is set by the build.
var version = "dev"

func commands() []cli.Command {
	return []cli.Command{
		{Name: "serve", Summary: "serve the API", Run: runServe},
		{Name: "demo", Summary: "serve a demo with synthetic patients", Run: runDemo},
		{Name: "client", Summary: "create, list, rotate and revoke API clients; set their keys and tier", Run: runClient},
		{Name: "user", Summary: "manage portal members", Run: runUser},
		{Name: "import", Summary: "import patients and clinical data from files", Run: runImport},
		{Name: "export", Summary: "write patients and clinical data to files for research", Run: runExport},
		{Name: "migrate", Summary: "migrate the database schema to this version", Run: runMigrate},
		{Name: "backup", Summary: "back up the database to a file, while servers run", Run: runBackup},
		{Name: "restore", Summary: "restore a backup into a new database of either engine", Run: runRestore},
		{Name: "rekey", Summary: "encrypt a SQLite file, or change its key", Run: runRekey},
		{Name: "check", Summary: "check the database and verify the audit seal", Run: runCheck},
		{Name: "seal", Summary: "accept audit logs that differ after an intended restore", Run: runSeal},
		{Name: "health", Summary: "check whether the server on this machine is alive", Run: runHealth},
		{Name: "version", Summary: "print the version and, with --licenses, all licences", Run: runVersion},
	}
}

func main() { cli.Main(program, dispatch) }

// program is the name of this program.
const program = "anodyne"

// dispatch runs the command given by args.
func dispatch(ctx context.Context, e cli.Env, args []string) error {
	return cli.Dispatch(ctx, e, "", args, commands())
}
