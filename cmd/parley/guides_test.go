package main

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/cmd/parley/config"
)

var (
	pagePre     = regexp.MustCompile(`(?s)<pre[^>]* aria-label="([^"]*)"[^>]*><code>(.*?)</code></pre>`)
	pageCommand = regexp.MustCompile(`<code>parley ([a-z][a-z -]*[a-z])`)
	vendorRow   = regexp.MustCompile(`<tr><th scope="row"><code>([a-z]+)</code></th><td>((?:<code>(?:asr|llm|tts|realtime|turn)</code>(?:, )?)+)</td>`)
)

// docsPages are the texts of the documentation's pages, by their file.
func docsPages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../api/docs/page/*.html")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	pages := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(name)] = string(text)
	}
	return pages
}

// TestGuideCommands: the command lines of the documentation are ones that this program takes.
func TestGuideCommands(t *testing.T) {
	lines, named := 0, 0
	for name, page := range docsPages(t) {
		for _, m := range pagePre.FindAllStringSubmatch(page, -1) {
			for line := range strings.Lines(html.UnescapeString(m[2])) {
				for _, command := range words(strings.TrimSpace(line)) {
					if len(command) == 0 || strings.TrimPrefix(command[0], "bin/") != "parley" {
						continue
					}
					lines++
					if _, err := parses(command[1:]); err != nil {
						t.Errorf("%s: %s: %v", name, line, err)
					}
				}
			}
		}
		for _, m := range pageCommand.FindAllStringSubmatch(page, -1) {
			named++
			if found, _, err := newRoot().Find(strings.Fields(m[1])); err != nil || !found.HasParent() {
				t.Errorf("%s names parley %s: %v", name, m[1], err)
			}
		}
	}
	if lines < 20 || named < 20 {
		t.Errorf("%d command lines, and %d commands in sentences", lines, named)
	}
}

// TestGuideFiles: the server takes the configuration files of the documentation as they stand, but for the files that they name.
func TestGuideFiles(t *testing.T) {
	const theirs = "/etc/parley/"
	seen := 0
	for name, page := range docsPages(t) {
		for _, m := range pagePre.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[1], "A file ") {
				continue
			}
			seen++
			dir, text := t.TempDir(), html.UnescapeString(m[2])
			for _, file := range regexp.MustCompile(theirs+`([a-z.-]+)`).FindAllStringSubmatch(text, -1) {
				if err := os.WriteFile(filepath.Join(dir, file[1]), []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, "guide.yaml")
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, theirs, dir+"/")), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, warnings, err := config.Load(config.Sources{File: path}); err != nil || len(warnings) > 0 {
				t.Errorf("%s, %s: %v %q", name, m[1], err, warnings)
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d files", seen)
	}
}

// TestGuideVendors: the page on engines has a row for each vendor, with the stages of which it has engines, and one for each
// engine that is embedded.
func TestGuideVendors(t *testing.T) {
	have := map[string][]string{}
	// The server refuses a vendor that the stage does not have, and names those that it has.
	for _, x := range []struct{ stage, stranger string }{{"asr", "rime"}, {"llm", "rime"}, {"tts", "soniox"}, {"realtime", "rime"}, {"turn", "rime"}} {
		path := filepath.Join(t.TempDir(), "parley.yaml")
		if err := os.WriteFile(path, []byte("engines:\n  - {name: x, stage: "+x.stage+", vendor: "+x.stranger+", key: k}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := config.Load(config.Sources{File: path})
		if err == nil {
			t.Fatalf("%s has an engine for %s", x.stranger, x.stage)
		}
		_, list, _ := strings.Cut(err.Error(), "allowed: ")
		for _, vendor := range strings.Split(list, ", ") {
			have[vendor] = append(have[vendor], "<code>"+x.stage+"</code>")
		}
	}
	page := docsPages(t)["engines.html"]
	rows := map[string]string{}
	for _, m := range vendorRow.FindAllStringSubmatch(page, -1) {
		rows[m[1]] = m[2]
	}
	for vendor, stages := range have {
		if want := strings.Join(stages, ", "); rows[vendor] != want {
			t.Errorf("%s has %s on the page, want %s", vendor, rows[vendor], want)
		}
	}
	if len(rows) != len(have) {
		t.Errorf("the page has %d vendors, there are %d", len(rows), len(have))
	}
	for stage, setting := range map[string]string{"asr": "PARLEY_ASR", "llm": "PARLEY_LLM", "tts": "PARLEY_TTS", "vad": "PARLEY_VAD", "denoise": "PARLEY_DENOISE"} {
		for _, name := range config.Built(stage) {
			_, vendors := have[name]
			if vendors || name == "off" {
				continue
			}
			row := slices.IndexFunc(strings.Split(page, "\n"), func(line string) bool {
				return strings.HasPrefix(line, `<tr><th scope="row"><code>`+name+`</code></th>`) && strings.Contains(line, setting)
			})
			if row < 0 {
				t.Errorf("the page has no row for %s of %s", name, setting)
			}
		}
	}
}
