// Anodyne is a pain-management data platform in one binary.
//
// Usage:
//
//	anodyne serve      serve the API
//	anodyne demo       serve a demonstration with made-up patients
//	anodyne client     create, list, rotate, revoke API clients; set their tier
//	anodyne user       manage the members who sign in to the portal
//	anodyne import     bring in patients and clinical data from files
//	anodyne migrate    bring the database to this program's schema
//	anodyne backup     write the database into one file, while a server runs
//	anodyne restore    read a backup into a new database, of either engine
//	anodyne rekey      encrypt a SQLite file, or change its key
//	anodyne check      look the database over and verify the audit seal
//	anodyne seal       accept audit logs that differ, after a rightful restore
//	anodyne health     ask the server on this machine whether it is alive
//	anodyne version    print the version
//
// Every command explains itself with --help. Each flag --some-name can also
// be set by the environment variable ANODYNE_SOME_NAME.
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
		{Name: "demo", Summary: "serve a demonstration with made-up patients", Run: runDemo},
		{Name: "client", Summary: "create, list, rotate, revoke API clients; set their tier", Run: runClient},
		{Name: "user", Summary: "manage the members who sign in to the portal", Run: runUser},
		{Name: "import", Summary: "bring in patients and clinical data from files", Run: runImport},
		{Name: "migrate", Summary: "bring the database to this program's schema", Run: runMigrate},
		{Name: "backup", Summary: "write the database into one file, while a server runs", Run: runBackup},
		{Name: "restore", Summary: "read a backup into a new database, of either engine", Run: runRestore},
		{Name: "rekey", Summary: "encrypt a SQLite file, or change its key", Run: runRekey},
		{Name: "check", Summary: "look the database over and verify the audit seal", Run: runCheck},
		{Name: "seal", Summary: "accept audit logs that differ, after a rightful restore", Run: runSeal},
		{Name: "health", Summary: "ask the server on this machine whether it is alive", Run: runHealth},
		{Name: "version", Summary: "print the version", Run: runVersion},
	}
}

func main() { cli.Main(program, dispatch) }

// program is the name of this program.
const program = "anodyne"

// dispatch carries out a command line.
func dispatch(ctx context.Context, e cli.Env, args []string) error {
	return cli.Dispatch(ctx, e, "", args, commands())
}
