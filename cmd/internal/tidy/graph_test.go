package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "parley"

// pkg is what the go command says about one of our packages.
type pkg struct {
	ImportPath, Dir, Doc               string
	Imports, TestImports, XTestImports []string
	GoFiles, CgoFiles                  []string
}

// path is the package's folder in the repository.
func (p pkg) path() string { return ours(p.ImportPath) }

// ours is the folder of one of our packages, empty for anybody else's.
func ours(importPath string) string {
	path, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return path
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Doc,Imports,TestImports,XTestImports,GoFiles,CgoFiles", "./...")
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // without it, cgo files are invisible
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// rows is the layer of each part of the tree. A package imports its own part
// and lower rows only, so parts of one row never meet.
var rows = map[string]int{
	"cmd": 4,
	"api": 3, "sip": 3, "pipeline": 3,
	"store": 2, "inference": 2,
	"media": 1, "billing": 1, "sip/carrier": 1,
}

// part is the part of the tree that a package belongs to.
func part(path string) string {
	if path == "sip/carrier" || strings.HasPrefix(path, "sip/carrier/") {
		return "sip/carrier"
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}

// rooms are the parts of the store beside the ledger.
var rooms = []string{"store/aftercall", "store/people", "store/history", "store/webhook", "store/campaign", "store/numbers", "store/payments", "store/tasks"}

// charged are the rooms that are paid for: they touch a wallet through ledger.Tx alone.
var charged = []string{"store/aftercall", "store/campaign", "store/numbers", "store/payments", "store/tasks"}

// policies are the packages that cmd/parley/node puts together, with those of cmd that each may
// import. None knows the whole node.
var policies = map[string][]string{
	"cmd/parley/afterwards":   nil,
	"cmd/parley/certificate":  nil,
	"cmd/parley/cluster":      nil,
	"cmd/parley/conversation": {"cmd/parley/config", "cmd/parley/engine", "cmd/parley/metrics", "cmd/parley/trace"},
	"cmd/parley/demo":         nil,
	"cmd/parley/engine":       {"cmd/parley/config"},
	"cmd/parley/inbound":      {"cmd/parley/conversation", "cmd/parley/outbound"},
	"cmd/parley/load":         nil,
	"cmd/parley/metrics":      {"cmd/parley/trace"},
	"cmd/parley/money":        {"cmd/parley/certificate", "cmd/parley/config", "cmd/parley/conversation"},
	"cmd/parley/notify":       nil,
	"cmd/parley/outbound":     {"cmd/parley/conversation", "cmd/parley/metrics"},

	"cmd/parley/certificate/acme": {"cmd/parley/certificate", "cmd/parley/config"},
}

// clients are what the commands that ask a running server have beside the media and a telephone. Two of them ask none, and
// make files of what other services export, or of templates.
var clients = []string{"api/client", "api/export", "api/starter", "api/wire", "api/wsagent/client", "cmd/parley/command", "cmd/parley/foreign"}

// isClient says whether a package has commands that ask a running server.
func isClient(path string) bool {
	return path == "cmd/parley/remote" || strings.HasPrefix(path, "cmd/parley/remote/")
}

// knowsClient says whether from may import such a package: the commands of one subject know the server as all of them do, and
// nothing of another subject.
func knowsClient(from, to string) bool {
	switch to {
	case "cmd/parley/remote":
		return from == "cmd/parley"
	case "cmd/parley/remote/server":
		return isClient(from) && from != "cmd/parley/remote/profile"
	case "cmd/parley/remote/profile":
		return from == "cmd/parley/remote" || from == "cmd/parley/remote/server"
	}
	return from == "cmd/parley/remote"
}

// pagesMay are the groups of pages, with what of the dashboard each may import.
var pagesMay = map[string][]string{
	"api/dashboard/page":      nil,
	"api/dashboard/account":   {"api/dashboard/page", "api/dashboard/report"},
	"api/dashboard/calls":     {"api/dashboard/page", "api/dashboard/report"},
	"api/dashboard/editor":    {"api/dashboard/page"},
	"api/dashboard/knowledge": {"api/dashboard/page"},
	"api/dashboard/report":    {"api/dashboard/page"},
	"api/dashboard/speech":    {"api/dashboard/page"},
	"api/dashboard/telephony": {"api/dashboard/page"},
	"api/dashboard/trunk":     {"api/dashboard/page"},
}

// forbidden says why from must not import to; empty when it may. A test may
// reach the simulated carrier from its neighbours.
func forbidden(from, to string, inTest bool) string {
	a, b := part(from), part(to)
	switch {
	case rows[a] == 0:
		return fmt.Sprintf("the row of %s is not known: add it to rows", a)
	case to == "sip/simulated" && a != "cmd" && (!inTest || a != "sip"):
		return "the simulated carrier is reached only over the network"
	case from == "sip/simulated" && !slices.Contains([]string{"sip", "sip/carrier", "media"}, b):
		return "it may import sip, sip/carrier and media"
	case from == "sip/mediasession" && !inTest && strings.HasPrefix(to, "sip") && to != "sip/sdp" && to != "sip/rtpport":
		return "the media of a call knows no signalling"
	case a == "pipeline" && !inTest && !books(from):
		return beyondTheBooks(from, to)
	case to == "inference/onnx" && !inTest && from != "cmd/parley-speech" && !strings.HasSuffix(from, "test"):
		return "networks that users bring run in parley-speech alone"
	case strings.HasPrefix(from, "api/dashboard/") && !inTest && !strings.HasSuffix(from, "test") && strings.HasPrefix(to, "api/dashboard") && !slices.Contains(pagesMay[from], to):
		return "what pages are made of knows no page, and the pages of one subject none of another"
	case !inTest && slices.Contains(rooms, to) && (from == "store" || from == "store/ledger"):
		return "the ledger knows nothing of it"
	case !inTest && slices.Contains(rooms, from) && slices.Contains(rooms, to):
		return "the rooms of the store do not know each other"
	case !inTest && slices.Contains(rooms, from) && to == "store/ledger" && !slices.Contains(charged, from):
		return "it knows nothing of money"
	case (from == "store/ledger/verify" || from == "store/ledger/statement") && !inTest && b == "store" && to != "store" && to != "store/ledger" && !slices.Contains(charged, to):
		return "it reads the books and nothing else"
	case to == "store/ledger/verify" && !inTest && a == "store" && from != "store/backup" && from != "store/ledger/ledgertest":
		return "the books do not know who proves them"
	case to == "store/ledger/statement" && !inTest && a == "store" && from != "store/ledger/ledgertest":
		return "the books do not know who reads them"
	case isPolicy(from) && !inTest && b == "cmd" && !slices.Contains(policies[from], to):
		return "the parts of a node do not know each other: node puts them together"
	case from == "cmd/parley/command" && !inTest:
		return "what all commands share knows nothing of what they do"
	case isClient(from) && !inTest && !slices.Contains(clients, to) && !isClient(to) && b != "billing" && b != "media" && b != "sip":
		return "a client of a server needs nothing of the server but what goes over the wire"
	case to == "cmd/parley/admin" && from != "cmd/parley", isClient(to) && !knowsClient(from, to):
		return "only the root command knows the commands"
	case (from == "api/client" || from == "api/wire") && !inTest && to != "api/wire" && b != "billing":
		return "a client needs nothing of the server but what goes over the wire"
	case a == b && (from != "media" || inTest):
		return ""
	case a == "sip/carrier" && b == "billing": // a leaf too: what a number costs is Money
		return ""
	case from == "media":
		return "media imports nothing of ours"
	case rows[b] >= rows[a]:
		return fmt.Sprintf("%s (row %d) imports lower rows only, and %s is row %d", a, rows[a], b, rows[b])
	}
	return ""
}

func isPolicy(path string) bool {
	_, is := policies[path]
	return is
}

// books says whether a package keeps the books of calls.
func books(path string) bool {
	return path == "pipeline/session" || strings.HasPrefix(path, "pipeline/session/")
}

// components are the parts of a call. None knows the conductor; the others of them that one may import are listed.
var components = map[string][]string{
	"pipeline/turn":    nil,
	"pipeline/amd":     nil,
	"pipeline/listen":  {"pipeline/wordtime"},
	"pipeline/playout": {"pipeline/wordtime"},
	"pipeline/journal": {"pipeline/agent", "pipeline/listen", "pipeline/turn"},
	"pipeline/reply":   {"pipeline/agent", "pipeline/playout", "pipeline/turn"},
	"pipeline/bridge":  {"pipeline/agent", "pipeline/amd", "pipeline/listen", "pipeline/playout", "pipeline/tool"},
	"pipeline/toolbox": {"pipeline/agent", "pipeline/tool", "pipeline/turn"},
	"pipeline/tool":    {"pipeline/schema", "pipeline/tool/crm"},
	"pipeline/agent":   {"pipeline/schema", "pipeline/tool", "pipeline/turn"},
}

// beyondTheBooks says why a package of pipeline that conducts calls, or describes what a call
// needs, must not import to: accounts and money are met in pipeline/session alone.
func beyondTheBooks(from, to string) string {
	may, component := components[from]
	switch b := part(to); {
	case component && b == "pipeline" && !slices.Contains(may, to):
		return "the parts of a call do not know the conductor, nor each other"
	case books(to):
		return "the books follow the calls: pipeline/session imports the conductor, and nothing of pipeline imports it"
	case (from == "pipeline/agent" || from == "pipeline/routing") && to == "billing/destination":
		return "" // the form of telephone numbers
	case b == "store" || b == "billing":
		return "only pipeline/session knows of accounts and money"
	case b != "pipeline" && rows[b] >= rows["pipeline"]:
		return fmt.Sprintf("pipeline imports lower rows only, and %s is row %d", b, rows[b])
	}
	return ""
}

func TestImportDirections(t *testing.T) {
	for _, p := range packages(t) {
		for _, imports := range []struct {
			list   []string
			inTest bool
		}{{p.Imports, false}, {p.TestImports, true}, {p.XTestImports, true}} {
			for _, to := range imports.list {
				if strings.HasPrefix(to, "go.opentelemetry.io/") && part(p.path()) != "cmd" {
					t.Errorf("%s imports %s: only cmd knows of OpenTelemetry", p.path(), to)
				}
				if ours(to) == "" {
					continue
				}
				if why := forbidden(p.path(), ours(to), imports.inTest); why != "" {
					t.Errorf("%s imports %s: %s", p.path(), ours(to), why)
				}
			}
		}
	}
}

func TestImportRule(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		inTest   bool
		ok       bool
	}{
		{"cmd/parley", "api/wsagent", false, true},
		{"cmd/internal/tidy", "cmd/parley/config", true, true},
		{"cmd/parley-speech", "inference/onnx", false, true},
		{"inference/smartturn", "inference/onnx", false, false},
		{"inference/smartturn", "inference/onnx", true, true},
		{"api/dashboard/editor", "api/dashboard/page", false, true},
		{"api/dashboard/page", "api/dashboard/editor", false, false},
		{"api/dashboard/editor", "api/dashboard", false, false},
		{"api/dashboard/calls", "api/dashboard/report", false, true},
		{"api/dashboard/telephony", "api/dashboard/calls", false, false},
		{"api/dashboard", "api/dashboard/calls", false, true},
		{"cmd/parley", "cmd/parley/admin", false, true},
		{"cmd/parley/node", "cmd/parley/admin", false, false},
		{"cmd/parley/admin", "store/ledger", false, true},
		{"cmd/parley/admin", "cmd/parley/remote", false, false},
		{"cmd/parley/remote", "api/client", false, true},
		{"cmd/parley/remote", "sip/simulated", false, true},
		{"cmd/parley/remote", "store", false, false},
		{"cmd/parley/remote", "api", false, false},
		{"cmd/parley/remote", "cmd/parley/config", false, false},
		{"cmd/parley/remote/calls", "cmd/parley/config", false, false},
		{"cmd/parley/remote", "cmd/parley/remote/calls", false, true},
		{"cmd/parley/remote/calls", "cmd/parley/remote", false, false},
		{"cmd/parley/remote/calls", "cmd/parley/remote/server", false, true},
		{"cmd/parley/remote/calls", "cmd/parley/remote/agents", false, false},
		{"cmd/parley/remote/server", "cmd/parley/remote/calls", false, false},
		{"cmd/parley", "cmd/parley/remote/calls", false, false},
		{"cmd/parley/command", "billing", false, false},
		{"cmd/parley/node", "cmd/parley/notify", false, true},
		{"cmd/parley/notify", "cmd/parley/node", false, false},
		{"cmd/parley/notify", "cmd/parley/afterwards", false, false},
		{"cmd/parley/engine", "cmd/parley/config", false, true},
		{"cmd/parley/inbound", "cmd/parley/outbound", false, true},
		{"cmd/parley/outbound", "cmd/parley/inbound", false, false},
		{"api", "store", false, true},
		{"api", "pipeline", false, false},
		{"api/client", "api/wire", false, true},
		{"api/client", "billing", false, true},
		{"api/client", "api", false, false},
		{"api/client", "api/apitest", true, true},
		{"api/wire", "store", false, false},
		{"pipeline", "sip", true, false},
		{"pipeline", "sip", false, false},
		{"pipeline", "pipeline/turn", false, true},
		{"pipeline", "inference", false, true},
		{"pipeline", "store", false, false},
		{"pipeline", "store", true, true},
		{"pipeline", "pipeline/journal", false, true},
		{"pipeline/journal", "pipeline", false, false},
		{"pipeline/journal", "pipeline", true, true},
		{"pipeline/journal", "pipeline/listen", false, true},
		{"pipeline/listen", "pipeline/journal", false, false},
		{"pipeline", "pipeline/bridge", false, true},
		{"pipeline/bridge", "pipeline", false, false},
		{"pipeline/toolbox", "pipeline/tool", false, true},
		{"pipeline/toolbox", "pipeline/bridge", false, false},
		{"pipeline/bridge", "pipeline/turn", false, false},
		{"pipeline/reply", "pipeline/playout", false, true},
		{"pipeline/reply", "pipeline/listen", false, false},
		{"cmd/parley/money", "cmd/parley/node", false, false},
		{"pipeline/turn", "billing", false, false},
		{"pipeline/turn", "pipeline/session", false, false},
		{"pipeline/agent", "billing/destination", false, true},
		{"pipeline/routing", "billing/destination", false, true},
		{"pipeline/agent", "store", false, false},
		{"pipeline/session", "store", false, true},
		{"pipeline/session", "billing", false, true},
		{"pipeline/session", "pipeline", false, true},
		{"pipeline/session", "sip", false, false},
		{"sip", "sip/carrier", false, true},
		{"sip/carrier", "sip", false, false},
		{"sip/carrier", "billing", false, true},
		{"billing", "sip/carrier", false, false},
		{"sip/carrier/telnyx", "sip/carrier", false, true},
		{"sip/simulated", "sip", false, true},
		{"sip/simulated", "media/wav", false, true},
		{"sip/simulated", "inference", false, false},
		{"sip", "sip/simulated", false, false},
		{"sip", "sip/mediasession", false, true},
		{"sip/mediasession", "sip/sdp", false, true},
		{"sip/mediasession", "sip/dialog", false, false},
		{"sip", "sip/simulated", true, true},
		{"cmd/parley", "sip/simulated", false, true},
		{"api", "sip/simulated", true, false},
		{"store", "billing", false, true},
		{"store", "store/people", false, false},
		{"store", "store/people", true, true},
		{"store/people", "store", false, true},
		{"store/people", "store/mail", false, true},
		{"store/people", "store/history", false, false},
		{"store/people", "store/ledger", false, false},
		{"store/campaign", "store/ledger", false, true},
		{"store/ledger", "store/campaign", false, false},
		{"store/aftercall", "store/ledger", false, true},
		{"store/ledger", "store/aftercall", false, false},
		{"store/aftercall", "store/history", false, false},
		{"store/tasks", "store/ledger", false, true},
		{"store/numbers", "store/ledger", false, true},
		{"store/payments", "store/numbers", false, false},
		{"store/ledger", "store/payments", false, false},
		{"store/ledger", "store/tasks", false, false},
		{"store/tasks", "store/aftercall", false, false},
		{"store/ledger/verify", "store/ledger", false, true},
		{"store/ledger/verify", "store/history", false, false},
		{"store/ledger/verify", "store/tasks", false, true},
		{"store/ledger", "store/ledger/verify", false, false},
		{"store/ledger/statement", "store/ledger", false, true},
		{"store/ledger", "store/ledger/statement", false, false},
		{"store/aftercall", "store/ledger/statement", false, false},
		{"api/wallet", "store/ledger/statement", false, true},
		{"store/ledger", "store/ledger/verify", true, true},
		{"store/backup", "store/ledger/verify", false, true},
		{"store", "inference", false, false},
		{"inference/espeak", "inference", false, true},
		{"media/wav", "media", false, true},
		{"media", "media/wav", false, false},
		{"media/wav", "billing", false, false},
		{"billing", "store", false, false},
		{"store", "cmd/parley", false, false},
		{"util", "media", false, false},
	} {
		if why := forbidden(tt.from, tt.to, tt.inTest); (why == "") != tt.ok {
			t.Errorf("%s imports %s (test %v): %q", tt.from, tt.to, tt.inTest, why)
		}
	}
}

func TestOnlyTheSpeechWorkerUsesCgo(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.CgoFiles) > 0 && p.path() != "cmd/parley-speech" {
			t.Errorf("%s uses cgo in %v: native code lives in cmd/parley-speech", p.path(), p.CgoFiles)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles)+len(p.CgoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment: begin one file with // Package %s ...", p.path(), filepath.Base(p.path()))
		}
	}
}
