package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const imageScript = "../../../deploy/image.sh"

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestImagePackages: what goes into the images is here by the same name, for the server was built and tested with it.
func TestImagePackages(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip(err)
	}
	lists := regexp.MustCompile(`packages="([^"$]+)"`).FindAllStringSubmatch(read(t, imageScript), -1)
	if len(lists) != 2 {
		t.Fatalf("the script has %d lists of packages", len(lists))
	}
	for _, list := range lists {
		for name := range strings.FieldsSeq(list[1]) {
			if name == "rtpengine-daemon" { // older releases have none
				continue
			}
			if out, err := exec.CommandContext(t.Context(), "dpkg-query", "--show", "--showformat=${db:Status-Status}", name).CombinedOutput(); err != nil || string(out) != "installed" {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
	for _, args := range [][]string{{}, {"parley", "1"}, {"another", "1", "image.tar"}} {
		if out, err := exec.CommandContext(t.Context(), "sh", append([]string{imageScript}, args...)...).CombinedOutput(); err == nil {
			t.Errorf("with %q it says %s", args, out)
		}
	}
}

// image is one that deploy/image.sh has made, unpacked.
type image struct {
	t       *testing.T
	name    string // with the version
	archive string
	dir     string // the same, an OCI layout
}

func newImage(t *testing.T, name string, files ...string) *image {
	t.Helper()
	i := &image{t: t, name: name + ":test", archive: filepath.Join(t.TempDir(), "image.tar"), dir: t.TempDir()}
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{imageScript, name, "test", i.archive}, files...)...)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1790000000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	i.run("tar", "--extract", "--file", i.archive, "--directory", i.dir)
	return i
}

func (i *image) run(args ...string) string {
	i.t.Helper()
	out, err := exec.CommandContext(i.t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		i.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// blob is a JSON document of the image.
func (i *image) blob(digest any) object {
	i.t.Helper()
	var o object
	if err := json.Unmarshal([]byte(read(i.t, i.dir, "blobs", "sha256", strings.TrimPrefix(digest.(string), "sha256:"))), &o); err != nil {
		i.t.Fatal(err)
	}
	return o
}

// config is what the image says of how it is run.
func (i *image) config() any {
	i.t.Helper()
	var index object
	if err := json.Unmarshal([]byte(read(i.t, i.dir, "index.json")), &index); err != nil {
		i.t.Fatal(err)
	}
	return i.blob(at(i.blob(at(index, "manifests", 0, "digest")), "config", "digest"))["config"]
}

// unpacked is a bundle that runc runs, in this machine's network, with what change makes of its process.
func (i *image) unpacked(change func(process object)) (bundle string) {
	i.t.Helper()
	bundle = filepath.Join(i.t.TempDir(), "bundle")
	i.run("umoci", "unpack", "--image", i.dir+":"+i.name, bundle)
	var spec object
	if err := json.Unmarshal([]byte(read(i.t, bundle, "config.json")), &spec); err != nil {
		i.t.Fatal(err)
	}
	process := spec["process"].(object)
	process["terminal"] = false
	process["capabilities"] = object{}
	delete(process, "rlimits") // who may not raise them may run it too
	change(process)
	linux := spec["linux"].(object)
	delete(linux, "resources")
	linux["namespaces"] = slices.DeleteFunc(linux["namespaces"].([]any), func(n any) bool { return at(n, "type") == "network" })
	// An engine copies what the image has into a new volume.
	spec["mounts"] = slices.DeleteFunc(spec["mounts"].([]any), func(m any) bool { return at(m, "destination") == "/var/lib/parley" })
	text, err := json.Marshal(spec)
	if err == nil {
		err = os.WriteFile(filepath.Join(bundle, "config.json"), text, 0o600)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return bundle
}

// TestSoakImage makes each image twice, with the same bytes, and runs it: the server with its database and its engines, which stops when
// the image's signal comes, and the programs of the edge. TestImagePackages stays.
func TestSoakImage(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	for _, tool := range []string{"mmdebstrap", "umoci", "runc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("runc runs with other accounts' rights only for root")
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin+"/", "parley/cmd/parley", "parley/cmd/parley-speech").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := []string{filepath.Join(bin, "parley"), filepath.Join(bin, "parley-speech")}
	server, edge := newImage(t, "parley", files...), newImage(t, "edge")
	says := server.config()
	for key, want := range (object{"User": "10001:10001", "StopSignal": "SIGTERM", "WorkingDir": "/var/lib/parley"}) {
		if got := at(says, key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	const addr = "127.0.0.31:8080"
	bundle := server.unpacked(func(process object) {
		process["args"] = append(process["args"].([]any), "--demo")
		process["env"] = append(process["env"].([]any), "PARLEY_HTTP_ADDR="+addr, "PARLEY_METRICS_ADDR=127.0.0.31:9090", "PARLEY_SIP_ADDR=127.0.0.31:5060", "PARLEY_WEBRTC_UDP_PORT=off")
	})
	name := "parley-" + filepath.Base(filepath.Dir(bin))
	var log bytes.Buffer
	cmd := exec.Command("runc", "run", "--bundle", bundle, name)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = exec.Command("runc", "delete", "--force", name).Run() }) // it has ended, most likely
	ready := func() bool {
		return exec.CommandContext(t.Context(), "runc", "exec", name, "/opt/parley/bin/parley", "health", "--ready", "--addr", addr).Run() == nil
	}
	for end := time.Now().Add(2 * time.Minute); !ready(); time.Sleep(time.Second) {
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v:\n%s", err, log.Bytes())
		default:
		}
		if time.Now().After(end) {
			t.Fatal("it is never ready")
		}
	}
	server.run("runc", "kill", name, strings.TrimPrefix(at(says, "StopSignal").(string), "SIG"))
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v:\n%s", err, log.Bytes())
	}

	bundle = edge.unpacked(func(process object) {
		process["args"] = []string{"bash", "-c", "kamailio -v && rtpengine --version && ip -V && timeout 1 dd --version && test $(id -u) = 10001 && touch /var/lib/edge/works"}
	})
	edge.run("runc", "run", "--bundle", bundle, name)

	server.run("cmp", server.archive, newImage(t, "parley", files...).archive)
	edge.run("cmp", edge.archive, newImage(t, "edge").archive)
}
