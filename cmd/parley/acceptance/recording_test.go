package acceptance

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/store/blob/blobtest"
)

// TestRecordingOfAKilledServer: what had been recorded when a server was killed is a
// recording after its next start.
func TestRecordingOfAKilledServer(t *testing.T) {
	t.Parallel()
	m := newModel()
	t.Cleanup(m.Close)
	env := append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1") // nobody says a word
	dir := newDataDir(t)
	s := serveLean(t, dir, env)
	who := newCustomer(t, s, "100")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte("settings: {record: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)
	connect(t, s, who.key, who.agent)
	eventually(t, "there is audio of a call on the disk", func() bool {
		raw, _ := filepath.Glob(filepath.Join(dir, "recordings-raw", "*.raw*"))
		if len(raw) != 1 {
			return false
		}
		info, err := os.Stat(raw[0])
		return err == nil && info.Size() > 2*16000*4
	})
	s.kill()
	s = serveLean(t, dir, env)
	var list struct{ Data []struct{ ID string } }
	if status, body := ask(t, s, who.key, "/v1/calls"); status != http.StatusOK || json.Unmarshal(body, &list) != nil || len(list.Data) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	var body []byte
	eventually(t, "the recording is ready", func() bool {
		var status int
		status, body = ask(t, s, who.key, "/v1/calls/"+list.Data[0].ID+"/recording?format=wav")
		return status == http.StatusOK
	})
	if seconds := float64(len(body)-44) / 4 / 16000; string(body[:4]) != "RIFF" || seconds < 1.9 {
		t.Errorf("%.1f s are left", seconds)
	}
	s.stop(t)
}

// TestSoakRecordingOfADeadServer: of a call whose server is killed for good another server makes the recording, from a
// bucket. TestRecordingsOfTwoNodes, of package node, is its short form.
func TestSoakRecordingOfADeadServer(t *testing.T) {
	soak(t)
	t.Parallel()
	m := newModel()
	t.Cleanup(m.Close)
	bucket := blobtest.Start(t)
	env := append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1", // nobody says a word
		"PARLEY_STORAGE_URL="+bucket.URL("parley"), "PARLEY_STORAGE_ACCESS_KEY="+blobtest.Key, "PARLEY_STORAGE_SECRET_KEY="+blobtest.Secret)
	one := serveLean(t, newDataDir(t), env)
	who := newCustomer(t, one, "100")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte("settings: {record: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, one.dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)
	two := serveBeside(t, one, "two", env...)
	connect(t, two, who.key, who.agent)
	eventually(t, "30 s of the call are in the bucket", func() bool { return len(bucket.Keys()) == 2 })
	two.kill()
	var list struct{ Data []struct{ ID string } }
	if status, body := ask(t, one, who.key, "/v1/calls"); status != http.StatusOK || json.Unmarshal(body, &list) != nil || len(list.Data) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	var body []byte
	status := 0
	for end := time.Now().Add(5 * time.Minute); status != http.StatusOK; time.Sleep(time.Second) { // others wait 90 s for it
		if status, body = ask(t, one, who.key, "/v1/calls/"+list.Data[0].ID+"/recording?format=wav"); time.Now().After(end) {
			t.Fatalf("%d %.200s\n%s", status, body, one.tail(40))
		}
	}
	if seconds := float64(len(body)-44) / 4 / 16000; string(body[:4]) != "RIFF" || seconds < 29 || seconds > 31 {
		t.Errorf("%.1f s are left", seconds)
	}
	if keys := bucket.Keys(); len(keys) != 1 {
		t.Errorf("%q are in the bucket", keys)
	}
	one.stop(t)
}

// ask gets something of a customer's.
func ask(t *testing.T, s *server, key, path string) (status int, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.addrs["http"]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}
