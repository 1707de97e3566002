// Anodyne is a pain-management data platform in one binary.
//
// Usage:
//
//	anodyne serve      serve the API
//	anodyne demo       serve a demo with synthetic patients
//	anodyne client     create, list, rotate and revoke API clients; set their tier
//	anodyne user       manage portal users
//	anodyne import     import patients and clinical data from files
//	anodyne migrate    migrate the database schema to this version
//	anodyne backup     back up the database to a file, while servers run
//	anodyne restore    restore a backup into a new database of either engine
//	anodyne rekey      encrypt a SQLite file, or change its key
//	anodyne check      check the database and verify the audit seal
//	anodyne seal       accept audit logs that differ after an intended restore
//	anodyne health     check whether the server on this machine is alive
//	anodyne bench      measure this machine
//	anodyne version    print the version and, with --licenses, all licences
//
// Every command explains itself with --help. Each flag --some-name can also
// be set by the environment variable ANODYNE_SOME_NAME.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/fault"
)

// version is set by the build.
var version = "dev"

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// env is what a command has of the world.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
}

// command is one word of the command line.
type command struct {
	name, summary string
	run           func(ctx context.Context, e env, args []string) error
}

func commands() []command {
	return []command{
		{"serve", "serve the API", runServe},
		{"demo", "serve a demo with synthetic patients", runDemo},
		{"client", "create, list, rotate and revoke API clients; set their tier", runClient},
		{"user", "manage portal users", runUser},
		{"import", "import patients and clinical data from files", runImport},
		{"migrate", "migrate the database schema to this version", runMigrate},
		{"backup", "back up the database to a file, while servers run", runBackup},
		{"restore", "restore a backup into a new database of either engine", runRestore},
		{"rekey", "encrypt a SQLite file, or change its key", runRekey},
		{"check", "check the database and verify the audit seal", runCheck},
		{"seal", "accept audit logs that differ after an intended restore", runSeal},
		{"health", "check whether the server on this machine is alive", runHealth},
		{"bench", "measure this machine", runBench},
		{"version", "print the version and, with --licenses, all licences", runVersion},
	}
}

func main() {
	// Whatever is created is the owner's alone, also by SQLite, which creates
	// its log and shared memory for everybody that the umask does not exclude.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], env{os.Stdin, os.Stdout, os.Stderr, os.LookupEnv}))
}

// errUsage is a fault of the command line that has been explained already.
var errUsage = errors.New("usage")

// run carries out a command line and gives the exit code.
func run(ctx context.Context, args []string, e env) int {
	err := dispatch(ctx, args, e, "anodyne", commands())
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	}
	message := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause == nil {
		message = f.Message // the code is for programs
	}
	fmt.Fprintf(e.stderr, "anodyne: %s\n", message)
	return exitFailed
}

// dispatch finds the command that the first word names.
func dispatch(ctx context.Context, args []string, e env, prefix string, list []command) error {
	if len(args) == 0 {
		usage(e.stderr, prefix, list)
		return errUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(e.stdout, prefix, list)
		return nil
	}
	for _, c := range list {
		if c.name == args[0] {
			return c.run(ctx, e, args[1:])
		}
	}
	fmt.Fprintf(e.stderr, "%s: unknown command %q\n\n", prefix, args[0])
	usage(e.stderr, prefix, list)
	return errUsage
}

func usage(w io.Writer, prefix string, list []command) {
	fmt.Fprintf(w, "usage: %s COMMAND [flags]\n\n", prefix)
	for _, c := range list {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(w, "\nRun %s COMMAND --help for help on a command.\n", prefix)
}

// flags makes a command's flag set; synopsis is what stands before its flags
// in the help.
func flags(e env, name, synopsis string) *flag.FlagSet {
	fs := flag.NewFlagSet("anodyne "+name, flag.ContinueOnError)
	fs.SetOutput(e.stderr)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: anodyne %s\n\nFlags (--some-name can also be set as ANODYNE_SOME_NAME in the environment):\n", synopsis)
		fs.PrintDefaults()
	}
	return fs
}

// oneOrMore is a number of words for parse.
const oneOrMore = -1

// parse reads flags and environment. Exactly want words may stand besides the
// flags, before or after them.
func parse(e env, fs *flag.FlagSet, args []string, want int) (words []string, err error) {
	explain := fs.Usage
	fs.Usage = func() {} // the flag package does not tell help from a fault
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fs.SetOutput(e.stdout)
				explain()
				return nil, err
			}
			explain() // the flag package has said what is wrong
			return nil, errUsage
		}
		if fs.NArg() == 0 {
			break
		}
		words, args = append(words, fs.Arg(0)), fs.Args()[1:]
	}
	if want == oneOrMore {
		want = max(1, len(words))
	}
	if len(words) != want {
		fmt.Fprintf(e.stderr, "%s: want %d arguments besides flags, got %d\n", fs.Name(), want, len(words))
		explain()
		return nil, errUsage
	}
	if err := config.FromEnvironment(fs, e.lookup); err != nil {
		fmt.Fprintln(e.stderr, err)
		return nil, errUsage
	}
	return words, nil
}
