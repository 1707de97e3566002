package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/licenses"
)

// document is a file with a licence or notice.
type document struct{ name, text string }

// section is the text under one or more headings.
type section struct {
	headings  []string
	documents []document
}

// gather returns the text of all licences.
func gather(root string) (string, error) {
	systems, err := targets(root)
	if err != nil {
		return "", err
	}
	modules, err := linked(root, systems)
	if err != nil {
		return "", err
	}
	goroot, err := output(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return "", err
	}
	var sections []section
	// Neither has a version here: that of Anodyne is set by each build, and any
	// Go toolchain may build it.
	for _, m := range slices.Concat([]*module{
		{path: "Anodyne", dir: root, packages: []string{root}},
		{path: "Go standard library and runtime", dir: strings.TrimSpace(goroot), packages: []string{strings.TrimSpace(goroot)}},
	}, modules) {
		documents, err := m.documents()
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.path, err)
		}
		ids, err := identifyAll(documents)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.path, err)
		}
		heading := strings.TrimSuffix(m.path+" "+m.version, " ") + " [" + strings.Join(ids, ", ") + "]"
		if i := slices.IndexFunc(sections, func(s section) bool { return m.version != "" && slices.Equal(s.documents, documents) }); i >= 0 {
			sections[i].headings = append(sections[i].headings, heading)
			continue
		}
		sections = append(sections, section{[]string{heading}, documents})
	}
	return render(sections), nil
}

func render(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		for _, heading := range s.headings {
			fmt.Fprintf(&b, "%s%s\n", licenses.Heading, heading)
		}
		for _, d := range s.documents {
			fmt.Fprintf(&b, "\n--- %s\n\n%s\n", d.name, d.text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

var (
	// isDocument matches files with licences and notices.
	isDocument = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)`)
	// isCode excludes source files with such names.
	isCode = regexp.MustCompile(`(?i)\.(go|s|c|h|py|js|sh)$`)
)

// documents reads the documents that apply to the linked packages of the
// module: those in their directories and in the parents up to the module root.
func (m *module) documents() (list []document, err error) {
	var folders []string
	for _, folder := range m.packages {
		for ; isIn(m.dir, folder); folder = filepath.Dir(folder) {
			if !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() || !isDocument.MatchString(entry.Name()) || isCode.MatchString(entry.Name()) {
				continue
			}
			d, err := m.read(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	third, err := filepath.Glob(filepath.Join(m.dir, "THIRD_PARTY_LICENSES", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range third {
		d, err := m.read(path)
		if err != nil {
			return nil, err
		}
		if folder, some := only[m.path+"/"+d.name]; some && !m.has(folder) {
			continue
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		return nil, errors.New("there is no licence in " + m.dir)
	}
	// The documents in the module root come first.
	slices.SortFunc(list, func(a, b document) int {
		if byDepth := strings.Count(a.name, "/") - strings.Count(b.name, "/"); byDepth != 0 {
			return byDepth
		}
		return strings.Compare(a.name, b.name)
	})
	return list, nil
}

// has reports whether a package in the directory is linked.
func (m *module) has(folder string) bool {
	return slices.ContainsFunc(m.packages, func(dir string) bool { return isIn(filepath.Join(m.dir, filepath.FromSlash(folder)), dir) })
}

// read reads a document without trailing white space.
func (m *module) read(path string) (document, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return document{}, err
	}
	name, err := filepath.Rel(m.dir, path)
	if err != nil {
		return document{}, err
	}
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(raw), "?")) {
		line = strings.TrimRight(line, " \t\r\n\f")
		if strings.HasPrefix(line, licenses.Heading) {
			return document{}, fmt.Errorf("%s has a line that looks like a heading: %s", name, line)
		}
		lines = append(lines, line)
	}
	return document{filepath.ToSlash(name), strings.Trim(strings.Join(lines, "\n"), "\n")}, nil
}
