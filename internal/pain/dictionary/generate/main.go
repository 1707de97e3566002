// Command generate writes the data files of package dictionary. It is run by
// go generate; docs/medicines.md explains how to import a new release.
//
//	generate -rrf rrf -release 2025-11-03    a release of RxNorm as NLM publishes it
//	generate -tables dir -release 2025-10-06 the tables that the first release came in
//
// Entries that are missing from the new release are kept and marked as
// retired, because old records refer to them. Classes are never guessed: a new
// ingredient gets the class "?", which package dictionary treats as not
// understood and its tests reject, until someone enters a class.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	rrf := flags.String("rrf", "", "folder with RXNCONSO.RRF, RXNREL.RRF and RXNSAT.RRF")
	tables := flags.String("tables", "", "folder with the tables of the first release")
	date := flags.String("release", "", "date of the release, YYYY-MM-DD")
	data := flags.String("data", "data", "folder of the data files to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if (*rrf == "") == (*tables == "") {
		return errors.New("give either -rrf or -tables")
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(*date) {
		return errors.New("give the date of the release with -release YYYY-MM-DD")
	}
	known, err := readData(*data)
	if err != nil {
		return err
	}
	var r *release
	if *rrf != "" {
		r, err = readRRF(*rrf)
	} else {
		r, err = readTables(*tables, known)
	}
	if err != nil {
		return err
	}
	r.date = *date
	r.keep(known)
	if err := r.write(*data); err != nil {
		return err
	}
	return r.report(os.Stdout)
}
