package asset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"
)

// TestVendoredFiles holds what others wrote to what they published.
func TestVendoredFiles(t *testing.T) {
	for _, dir := range []string{"../docs/vendor", "../dashboard/vendor", "../dashboard/dashboardtest/vendor", "../../cmd/parley/node/vendor",
		"../../media/vad/silero/vendor", "../../media/denoise/gtcrn/vendor"} {
		t.Run(dir, func(t *testing.T) { vendored(t, dir) })
	}
}

func vendored(t *testing.T, dir string) {
	text, err := os.ReadFile(path.Join(dir, "vendor.json"))
	if err != nil {
		t.Fatal(err)
	}
	var packages []struct {
		Name, Version, Licence, Integrity string
		Files                             map[string]string // name to SHA-256
	}
	if err := json.Unmarshal(text, &packages); err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{"vendor.json": ""}
	for _, p := range packages {
		if p.Name == "" || p.Version == "" || p.Licence == "" || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%+v is not complete", p)
		}
		for name, sum := range p.Files {
			wanted[name] = sum
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		want, ok := wanted[e.Name()]
		delete(wanted, e.Name())
		if !ok {
			t.Errorf("%s is not in vendor.json", e.Name())
		}
		text, err := os.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); want != "" && hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s was changed", e.Name())
		}
	}
	for name := range wanted {
		t.Errorf("%s is missing", name)
	}
}
