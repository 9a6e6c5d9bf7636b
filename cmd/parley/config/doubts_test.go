package config

import (
	"strings"
	"testing"
)

// TestPlayMoneyIsAskedFor: payments are simulated where somebody says so, and in a
// demonstration that no real carrier would have to be paid for.
func TestPlayMoneyIsAskedFor(t *testing.T) {
	real := []string{"PARLEY_CARRIER=sip", "PARLEY_CONFIG=" + write(t, "trunks:\n  - {name: wholesale, targets: [{host: 192.0.2.7}]}\n")}
	for _, tt := range []struct {
		env    []string
		want   string
		source string
	}{
		{nil, "none", "default"},
		{[]string{"PARLEY_PAYMENTS=simulated"}, "simulated", "environment"},
		{[]string{"PARLEY_DEMO=on"}, "simulated", "default"},
		{[]string{"PARLEY_DEMO=on", "PARLEY_CARRIER=none"}, "simulated", "default"},
		{[]string{"PARLEY_DEMO=on", "PARLEY_PAYMENTS=none"}, "none", "environment"},
		{append(real, "PARLEY_DEMO=on"), "none", "default"},
		{real, "none", "default"},
	} {
		c, _, err := Load(Sources{Env: tt.env})
		if err != nil {
			t.Errorf("%v: %v", tt.env, err)
			continue
		}
		for _, s := range c.Shown() {
			if s.Key == "payments" && (s.Value != tt.want || s.Source != tt.source) || c.Payments != tt.want {
				t.Errorf("%v: %s, shown as %+v", tt.env, c.Payments, s)
			}
		}
	}
}

// TestDoubts: what is played beside engines that cost money is said, and nothing else.
func TestDoubts(t *testing.T) {
	real := []string{"PARLEY_LLM=openai,scripted", "PARLEY_LLM_URL=https://llm.example/v1"}
	for _, tt := range []struct {
		env  []string
		want string // names
	}{
		{nil, ""},
		{[]string{"PARLEY_DEMO=on"}, ""},
		{real, "simulated carrier"},
		{append(real, "PARLEY_PAYMENTS=simulated"), "simulated payments, simulated carrier"},
		{append(real, "PARLEY_DEMO=on", "PARLEY_CARRIER=none"), "simulated payments"},
		{append(real, "PARLEY_CARRIER=none"), ""},
	} {
		c, _, err := Load(Sources{Env: tt.env})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range c.Doubts() {
			names = append(names, d.Name)
			if d.Fix == "" || d.Plain == "" || strings.Contains(d.Plain, "PARLEY_") || !strings.Contains(d.Text, "PARLEY_LLM=openai") {
				t.Errorf("%+v", d)
			}
		}
		if got := strings.Join(names, ", "); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}

// TestConnectionsInTheClear: what leaves this machine unencrypted is said, without a password.
func TestConnectionsInTheClear(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@db.lan/x?sslmode=disable", "database connection"},
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@db.lan/x", "database connection"}, // sslmode is prefer then
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@127.0.0.1,db.lan/x?sslmode=disable", "database connection"},
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@db.lan/x?sslmode=verify-full", ""},
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@db.lan/x?sslmode=require", ""},
		{"PARLEY_DATABASE_URL=postgres://u:hunter2@localhost:5433/x", ""},
		{"PARLEY_DATABASE_URL=postgres:///x?host=/var/run/postgresql", ""},
		{"PARLEY_EMBEDDINGS_URL=http://vectors.lan/v1 PARLEY_EMBEDDINGS_API_KEY=hunter2", "embeddings connection"},
		{"PARLEY_EMBEDDINGS_URL=http://vectors.lan/v1", ""},
		{"PARLEY_STORAGE_URL=s3://bucket?endpoint=http://minio.lan:9000 PARLEY_STORAGE_ACCESS_KEY=hunter2 PARLEY_STORAGE_SECRET_KEY=hunter2", "storage connection"},
		{"PARLEY_STORAGE_URL=s3://bucket?endpoint=http://127.0.0.1:9000 PARLEY_STORAGE_ACCESS_KEY=hunter2 PARLEY_STORAGE_SECRET_KEY=hunter2", ""},
		{"PARLEY_SEARCH_URL=http://search.lan/?q= PARLEY_SEARCH_API_KEY=hunter2", "search connection"},
		{"PARLEY_SEARCH_URL=http://search.lan/?q=", ""},
		{"PARLEY_SEARCH_URL=https://search.lan/?q= PARLEY_SEARCH_API_KEY=hunter2", ""},
		{"PARLEY_CRM=rest PARLEY_CRM_URL=http://10.0.0.7 PARLEY_CRM_API_KEY=hunter2", "crm connection"},
		{"PARLEY_CRM=rest PARLEY_CRM_URL=http://[::1]:80 PARLEY_CRM_API_KEY=hunter2", ""},
		{"PARLEY_CARRIER=none PARLEY_LLM=openai PARLEY_LLM_URL=http://10.0.0.7/v1 PARLEY_LLM_API_KEY=hunter2", "llm connection"},
		{"PARLEY_CARRIER=none PARLEY_LLM=openai PARLEY_LLM_URL=http://127.0.0.1:11434/v1 PARLEY_LLM_API_KEY=hunter2", ""},
	} {
		c, _, err := Load(Sources{Env: strings.Fields(tt.env)})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range c.Doubts() {
			names = append(names, d.Name)
			if text := d.Text + d.Fix; strings.Contains(text, "hunter2") || d.Fix == "" || d.Plain != "" {
				t.Errorf("%+v", d)
			}
		}
		if got := strings.Join(names, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.env, got, tt.want)
		}
	}
}

// TestGuessableSecrets: a master secret that nobody drew at random is doubted, and not shown.
func TestGuessableSecrets(t *testing.T) {
	for secret, want := range map[string]bool{
		"": false,
		"2f6c1f0f8f0f7f6d5f4f3f2f1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a": false, // openssl rand -hex 32
		"9a8b7c6d5e4f30211203f4e5d6c7b8a9":                                 false, // -hex 16
		"mJ8vq2Zr0tYw5uXkA1bC3dE4fG6hI7jK8lM9nO0pQ2s=":                     false, // -base64 32
		"correct horse battery staple 2024 once":                           true,
		"correct-horse-battery-staple-and-more":                            true,
		"11111111111111111111111111111111":                                 true,
		"abc123abc123abc123abc123abc123abc123":                             true,
	} {
		var env []string
		if secret != "" {
			env = []string{"PARLEY_SECRET=" + secret}
		}
		c, _, err := Load(Sources{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		doubts := c.Doubts()
		if (len(doubts) == 1 && doubts[0].Name == "master secret") != want || !want && len(doubts) != 0 {
			t.Errorf("%q: %+v, want a doubt: %t", secret, doubts, want)
		}
		for _, d := range doubts {
			if strings.Contains(d.Text+d.Fix, secret) {
				t.Errorf("the secret is shown: %+v", d)
			}
		}
	}
}
