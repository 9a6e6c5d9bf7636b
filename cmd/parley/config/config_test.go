package config

import (
	"errors"
	"flag"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/store/bus"
)

var update = flag.Bool("update", false, "write the example file and the page of settings")

const (
	exampleFile  = "../../../deploy/parley.example.yaml"
	settingsPage = "../../../deploy/settings.md"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	c, warnings, err := Load(Sources{})
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	if c.HTTPAddr != ":8080" || c.SIPAddr != ":5060" || !c.Telephony() || c.DataDir != "./data" || c.DataDirSet ||
		c.DrainTimeout != 5*time.Minute || c.RTPPorts != (PortRange{10000, 19999}) || c.RTPPorts.Pairs() != 5000 ||
		c.Log != slog.LevelInfo || c.ASR.Engines[0] != "pocketsphinx" || c.Demo || c.Node == "" {
		t.Errorf("%+v", c)
	}
}

func TestPrecedence(t *testing.T) {
	s := Sources{
		Flags: map[string]string{"http-addr": ":1"},
		Env:   []string{"PARLEY_HTTP_ADDR=:2", "PARLEY_METRICS_ADDR=:3", "PARLEY_BASE_URL=", "HOME=/x"},
		File:  write(t, "http_addr: :4\nmetrics_addr: :5\nbase_url: https://voice.example/\nmax_calls: 7\ndemo: yes\nlog:\n"),
	}
	c, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTPAddr != ":1" || c.MetricsAddr != ":3" || c.BaseURL != "https://voice.example" || c.MaxCalls != 7 || !c.Demo {
		t.Errorf("%+v", c)
	}
	want := map[string]string{"http_addr": "flag", "metrics_addr": "environment", "base_url": "file", "log": "default"}
	for _, shown := range c.Shown() {
		if w, ok := want[shown.Key]; ok && w != shown.Source {
			t.Errorf("%s comes from %s, want %s", shown.Key, shown.Source, w)
		}
	}
	// The file may be named by the environment too.
	c, _, err = Load(Sources{Env: []string{"PARLEY_CONFIG=" + s.File}})
	if err != nil || c.HTTPAddr != ":4" {
		t.Errorf("%v %v", c, err)
	}
}

func TestListsAndOff(t *testing.T) {
	c, _, err := Load(Sources{File: write(t, `
sip_addr: off
asr: [openai, pocketsphinx]
asr_url: http://127.0.0.1:8000/v1/
denoise: off
trusted_proxies: [10.0.0.0/8, "::ffff:192.0.2.1"]
rtp_ports: 10001-10003
`)})
	if err != nil {
		t.Fatal(err)
	}
	if c.Telephony() || c.SIPAddr != "" || c.Denoise[0] != "off" || c.ASR.URL != "http://127.0.0.1:8000/v1" || c.RTPPorts.Pairs() != 1 {
		t.Errorf("%+v", c)
	}
	if !reflect.DeepEqual(c.ASR.Engines, []string{"openai", "pocketsphinx"}) {
		t.Errorf("engines %v", c.ASR.Engines)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")}
	if !reflect.DeepEqual(c.TrustedProxies, want) {
		t.Errorf("proxies %v", c.TrustedProxies)
	}
}

// Each wrong setting stops the start with one line that names it as the user
// wrote it and says what is allowed.
func TestWrongSettings(t *testing.T) {
	type env = map[string]string
	for _, tt := range []struct {
		name string
		env  env
		file string
		want string // how the line starts, and | what it contains
	}{
		{"address without port", env{"HTTP_ADDR": "localhost"}, "", `PARLEY_HTTP_ADDR: "localhost" is not allowed; allowed: HOST:PORT`},
		{"port too high", env{"METRICS_ADDR": ":70000"}, "", `PARLEY_METRICS_ADDR: ":70000"`},
		{"address with a scheme", env{"SIP_ADDR": "udp://:5060"}, "", `PARLEY_SIP_ADDR:|or off`},
		{"metrics in public", env{"METRICS_ADDR": ":8080"}, "", `PARLEY_METRICS_ADDR: metrics|allowed: another port`},
		{"base without scheme", env{"BASE_URL": "voice.example"}, "", `PARLEY_BASE_URL: "voice.example"|https://HOST`},
		{"base with query", env{"BASE_URL": "https://voice.example/?a=b"}, "", `PARLEY_BASE_URL:`},
		{"a certificate twice", env{"TLS_DOMAIN": "voice.example.com", "TLS_CERT": "/etc/hostname", "TLS_KEY": "/etc/hostname"}, "", `PARLEY_TLS_DOMAIN: PARLEY_TLS_CERT has the certificate already; allowed: one of the two`},
		{"a certificate for all names", env{"TLS_DOMAIN": "*.example.com"}, "", `PARLEY_TLS_DOMAIN: "*.example.com" is not allowed; allowed: one or several names`},
		{"a certificate for an address", env{"TLS_DOMAIN": "203.0.113.5"}, "", `PARLEY_TLS_DOMAIN:`},
		{"a certificate for a name twice", env{"TLS_DOMAIN": "voice.example.com, VOICE.example.com"}, "", `PARLEY_TLS_DOMAIN:`},
		{"an authority in the clear", env{"TLS_DOMAIN": "voice.example.com", "TLS_ACME_DIRECTORY": "http://ca.lan/directory"}, "", `PARLEY_TLS_ACME_DIRECTORY:|https://HOST`},
		{"an authority that writes to nobody", env{"TLS_DOMAIN": "voice.example.com", "TLS_ACME_EMAIL": "Ops <ops@example.com>"}, "", `PARLEY_TLS_ACME_EMAIL:`},
		{"mail about no certificate", env{"TLS_ACME_EMAIL": "ops@example.com"}, "", `PARLEY_TLS_ACME_EMAIL: it is for PARLEY_TLS_DOMAIN, which is empty`},
		{"links without the certificate", env{"TLS_DOMAIN": "voice.example.com", "BASE_URL": "http://voice.example.com"}, "", `PARLEY_BASE_URL: PARLEY_TLS_DOMAIN makes the server HTTPS`},
		{"plain beside plain", env{"TLS_PLAIN_ADDR": ":80"}, "", `PARLEY_TLS_PLAIN_ADDR: it is for PARLEY_TLS_DOMAIN`},
		{"plain instead of HTTPS", env{"TLS_DOMAIN": "voice.example.com", "TLS_PLAIN_ADDR": ":8080"}, "", `PARLEY_TLS_PLAIN_ADDR: PARLEY_HTTP_ADDR has this port`},
		{"no address", env{"PUBLIC_IP": "example.com"}, "", `PARLEY_PUBLIC_IP: "example.com"|an IP address`},
		{"any address", env{"PUBLIC_IP": "0.0.0.0"}, "", `PARLEY_PUBLIC_IP:`},
		{"one port", env{"RTP_PORTS": "10000"}, "", `PARLEY_RTP_PORTS:|FIRST-LAST`},
		{"ports backwards", env{"RTP_PORTS": "20000-10000"}, "", `PARLEY_RTP_PORTS:`},
		{"odd pair", env{"RTP_PORTS": "10001-10002"}, "", `PARLEY_RTP_PORTS:`},
		{"reserved ports", env{"RTP_PORTS": "1000-2000"}, "", `PARLEY_RTP_PORTS:`},
		{"too few ports", env{"MAX_CALLS": "50", "RTP_PORTS": "10000-10099"}, "", `PARLEY_MAX_CALLS: 50 calls need 120 RTP ports|up to 41`},
		{"another database", env{"DATABASE_URL": "mysql://root:hunter2@db/x"}, "", `PARLEY_DATABASE_URL: this value is not allowed; allowed: postgres://`},
		{"damaged database", env{"DATABASE_URL": "postgres://u:hunter2@db:port/x"}, "", `PARLEY_DATABASE_URL: this value`},
		{"another bus", env{"NATS_URL": "http://u:hunter2@bus:4222"}, "", `PARLEY_NATS_URL: this value is not allowed; allowed: tls://`},
		{"damaged bus", env{"NATS_URL": "nats://u:hunter2@bus:port"}, "", `PARLEY_NATS_URL: this value`},
		{"bus with a gap", env{"NATS_URL": "nats://a:1,,nats://u:hunter2@b:1"}, "", `PARLEY_NATS_URL: this value`},
		{"a bus in the clear", env{"NATS_URL": "tls://a:4222,nats://u:hunter2@bus.lan:4222"}, "", `PARLEY_NATS_URL: what is said in calls would go unencrypted to "bus.lan"; allowed: tls://`},
		{"a bus in the clear, by address", env{"NATS_URL": "nats://10.0.0.7:4222"}, "", `PARLEY_NATS_URL: what is said|"10.0.0.7"`},
		{"another mail server", env{"SMTP_URL": "http://u:hunter2@mail"}, "", `PARLEY_SMTP_URL: this value is not allowed; allowed: smtp://`},
		{"mail from nobody", env{"SMTP_URL": "smtp://u:hunter2@mail?from=hunter2"}, "", `PARLEY_SMTP_URL: this value`},
		{"a collector nowhere", env{"OTLP_ENDPOINT": "collector:4318"}, "", `PARLEY_OTLP_ENDPOINT:`},
		{"a collector's key in its address", env{"OTLP_ENDPOINT": "http://u:hunter2@collector:4318"}, "", `PARLEY_OTLP_ENDPOINT:`},
		{"a search nowhere", env{"SEARCH_URL": "search.example/?q="}, "", `PARLEY_SEARCH_URL:`},
		{"a key for no embeddings", env{"EMBEDDINGS_API_KEY": "hunter2"}, "", `PARLEY_EMBEDDINGS_API_KEY: it is for PARLEY_EMBEDDINGS_URL, which is empty`},
		{"a model for no embeddings", env{"EMBEDDINGS_MODEL": "bge-m3"}, "", `PARLEY_EMBEDDINGS_MODEL: it is for PARLEY_EMBEDDINGS_URL, which is empty`},
		{"embeddings nowhere", env{"EMBEDDINGS_URL": "ollama/v1"}, "", `PARLEY_EMBEDDINGS_URL:`},
		{"a key for no search", env{"SEARCH_API_KEY": "hunter2"}, "", `PARLEY_SEARCH_API_KEY: it is for PARLEY_SEARCH_URL, which is empty`},
		{"another customer database", env{"CRM": "salesforce"}, "", `PARLEY_CRM: "salesforce" is not allowed; allowed: rest or hubspot`},
		{"a customer database nowhere", env{"CRM": "rest"}, "", `PARLEY_CRM_URL: PARLEY_CRM=rest needs it; allowed: http`},
		{"HubSpot without a key", env{"CRM": "hubspot"}, "", `PARLEY_CRM_API_KEY: PARLEY_CRM=hubspot needs it`},
		{"a key for no customer database", env{"CRM_API_KEY": "hunter2"}, "", `PARLEY_CRM_API_KEY: it is for PARLEY_CRM, which is empty`},
		{"everywhere", env{"TOOL_ALLOW": "crm.lan,*"}, "", `PARLEY_TOOL_ALLOW: "crm.lan,*" is not allowed; allowed: networks`},
		{"half a network", env{"TOOL_ALLOW": "10.1.2.3/8"}, "", `PARLEY_TOOL_ALLOW:`},
		{"storage with its keys", env{"STORAGE_URL": "s3://key:hunter2@bucket"}, "", `PARLEY_STORAGE_URL:|s3://BUCKET`},
		{"storage nowhere", env{"STORAGE_URL": "https://bucket.example"}, "", `PARLEY_STORAGE_URL: "https://bucket.example" is not allowed; allowed: s3://BUCKET`},
		{"a bucket without a key", env{"STORAGE_URL": "s3://bucket", "STORAGE_SECRET_KEY": "hunter2"}, "", `PARLEY_STORAGE_ACCESS_KEY: the bucket of PARLEY_STORAGE_URL needs it`},
		{"a bucket without a secret", env{"STORAGE_URL": "s3://bucket", "STORAGE_ACCESS_KEY": "hunter2"}, "", `PARLEY_STORAGE_SECRET_KEY: the bucket of PARLEY_STORAGE_URL needs it`},
		{"a key for no bucket", env{"STORAGE_URL": "file:///srv/parley", "STORAGE_ACCESS_KEY": "hunter2"}, "", `PARLEY_STORAGE_ACCESS_KEY: it is for a bucket`},
		{"an encryption of our own", env{"STORAGE_ENCRYPTION": "rot13"}, "", `PARLEY_STORAGE_ENCRYPTION: "rot13" is not allowed; allowed: AES256`},
		{"recordings in two places", env{"STORAGE_URL": "file:///srv/parley", "RECORDINGS_DIR": "/srv/recordings"}, "", `PARLEY_RECORDINGS_DIR: PARLEY_STORAGE_URL says`},
		{"short secret", env{"SECRET": "hunter2"}, "", `PARLEY_SECRET: this value is not allowed; allowed: 32 characters`},
		{"secret twice", env{"SECRET": "hunter2", "SECRET_FILE": "/x"}, "", `PARLEY_SECRET_FILE: the secret is given twice; allowed: this or PARLEY_SECRET`},
		{"secret file missing", env{"SECRET_FILE": "/no/such"}, "", `PARLEY_SECRET_FILE: cannot read "/no/such"; allowed: the path`},
		{"secret file empty", env{"LLM_API_KEY_FILE": "/dev/null"}, "", `PARLEY_LLM_API_KEY_FILE: the file is empty; allowed`},
		{"key with a line break", env{"TTS_API_KEY": "hunter2\nx"}, "", `PARLEY_TTS_API_KEY: this value`},
		{"node", env{"NODE": "node 1"}, "", `PARLEY_NODE: "node 1" is not allowed; allowed: letters`},
		{"carrier not built", env{"CARRIER": "twilio"}, "", `PARLEY_CARRIER: "twilio" is not allowed; allowed: simulated, telnyx, sip`},
		{"other payments", env{"PAYMENTS": "cash"}, "", `PARLEY_PAYMENTS: "cash" is not allowed; allowed: simulated, stripe or none`},
		{"a cluster anywhere", env{"NATS_CLUSTER_ADDR": ":6222"}, "", `PARLEY_NATS_CLUSTER_ADDR: ":6222" is not allowed; allowed: HOST:PORT`},
		{"a cluster without a certificate", env{"NATS_CLUSTER_ADDR": "127.0.0.1:0", "NATS_KEY": "/dev/null", "NATS_CA": "/dev/null"}, "", `PARLEY_NATS_KEY: "/dev/null" is not allowed`},
		{"a certificate for no NATS", env{"NATS_CA": "/etc/hosts"}, "", `PARLEY_NATS_CA: it is for PARLEY_NATS_CLUSTER_ADDR and PARLEY_NATS_URL`},
		{"a NATS certificate without its key", env{"NATS_URL": "tls://nats-1:4222", "NATS_CERT": "/etc/hosts"}, "", `PARLEY_NATS_KEY: PARLEY_NATS_CERT needs it`},
		{"a key without its NATS certificate", env{"NATS_URL": "tls://nats-1:4222", "NATS_KEY": "/etc/hosts"}, "", `PARLEY_NATS_CERT: PARLEY_NATS_KEY needs it`},
		{"a route nowhere", env{"NATS_ROUTES": "10.0.0.1:6222,,"}, "", `PARLEY_NATS_ROUTES: "10.0.0.1:6222,," is not allowed; allowed: HOST:PORT`},
		{"Stripe without a key", env{"PAYMENTS": "stripe", "STRIPE_WEBHOOK_SECRET": "whsec_hunter2"}, "", `PARLEY_STRIPE_KEY: PARLEY_PAYMENTS=stripe needs it; allowed: sk_`},
		{"Stripe without a webhook secret", env{"PAYMENTS": "stripe", "STRIPE_KEY": "sk_test_hunter2"}, "", `PARLEY_STRIPE_WEBHOOK_SECRET: PARLEY_PAYMENTS=stripe needs it; allowed: whsec_`},
		{"a publishable key", env{"STRIPE_KEY": "pk_test_hunter2"}, "", `PARLEY_STRIPE_KEY: this value is not allowed; allowed: a secret`},
		{"another secret", env{"STRIPE_WEBHOOK_SECRET": "hunter2"}, "", `PARLEY_STRIPE_WEBHOOK_SECRET: this value is not allowed; allowed: a signing secret`},
		{"real money and a simulated carrier", env{"PAYMENTS": "stripe", "STRIPE_KEY": "sk_live_hunter2", "STRIPE_WEBHOOK_SECRET": "whsec_hunter2"}, "", `PARLEY_STRIPE_KEY: a live key charges real cards`},
		{"a restricted live key likewise", env{"STRIPE_KEY": "rk_live_hunter2"}, "", `PARLEY_STRIPE_KEY: a live key charges real cards|PARLEY_CARRIER=simulated`},
		{"engine not built", env{"ASR": "whisper"}, "", `PARLEY_ASR: "whisper" is not allowed; allowed: the engines that are built, pocketsphinx, openai, deepgram, assemblyai, soniox`},
		{"engine twice", env{"TTS": "espeak,espeak"}, "", `PARLEY_TTS:`},
		{"empty engine", env{"LLM": "scripted,"}, "", `PARLEY_LLM: "scripted,"`},
		{"off and on", env{"DENOISE": "off,spectral"}, "", `PARLEY_DENOISE:`},
		{"engine of another stage", env{"VAD": "espeak"}, "", `PARLEY_VAD: "espeak"|spectral`},
		{"remote engine without address", env{"LLM": "openai"}, "", `PARLEY_LLM_URL: the engine openai needs it; allowed: http://HOST`},
		{"engine address with a password", env{"LLM_URL": "http://u:p@host"}, "", `PARLEY_LLM_URL:`},
		{"no rate card", env{"RATE_CARD": "/no/such.yaml"}, "", `PARLEY_RATE_CARD: "/no/such.yaml" is not allowed; allowed: the path of a readable file`},
		{"directory as rate card", env{"RATE_CARD": "/"}, "", `PARLEY_RATE_CARD:`},
		{"level", env{"LOG": "verbose"}, "", `PARLEY_LOG: "verbose" is not allowed; allowed: debug, info, warn or error`},
		{"format", env{"LOG_FORMAT": "xml"}, "", `PARLEY_LOG_FORMAT: "xml" is not allowed; allowed: text or json`},
		{"switch", env{"DEMO": "maybe"}, "", `PARLEY_DEMO: "maybe" is not allowed; allowed: on or off`},
		{"duration", env{"DRAIN_TIMEOUT": "5"}, "", `PARLEY_DRAIN_TIMEOUT: "5" is not allowed; allowed: a duration`},
		{"negative duration", env{"DRAIN_TIMEOUT": "-1s"}, "", `PARLEY_DRAIN_TIMEOUT:`},
		{"rate", env{"RATE_LIMIT": "fast"}, "", `PARLEY_RATE_LIMIT: "fast" is not allowed; allowed: a whole number`},
		{"calls", env{"MAX_CALLS": "-1"}, "", `PARLEY_MAX_CALLS:`},
		{"network with host bits", env{"SIP_ALLOW": "10.1.2.3/8"}, "", `PARLEY_SIP_ALLOW:|10.0.0.0/8`},
		{"more callers than any carrier has", env{"SIP_ALLOW": "10.0.0.0/8,192.0.0.0/7"}, "", `PARLEY_SIP_ALLOW: "10.0.0.0/8,192.0.0.0/7" is not allowed`},
		{"more callers than any carrier has, IPv6", env{"SIP_ALLOW": "2000::/15"}, "", `PARLEY_SIP_ALLOW: "2000::/15" is not allowed`},
		{"proxies", env{"TRUSTED_PROXIES": "10.0.0.0/8;10.0.0.1"}, "", `PARLEY_TRUSTED_PROXIES:`},
		{"unknown sources", env{"SIP_UNKNOWN": "allow"}, "", `PARLEY_SIP_UNKNOWN: "allow" is not allowed; allowed: drop or reject`},
		{"long value", env{"LOG": strings.Repeat("x", 5000)}, "", `PARLEY_LOG: "xxx|..." is not allowed`},

		{"value in the file", nil, "log: info\nlog_format: xml\n", `parley.yaml line 2: log_format: "xml" is not allowed; allowed: text or json`},
		{"unknown key", nil, "sip_adr: :5060\n", `parley.yaml line 1: sip_adr: is not a setting; the nearest is sip_addr`},
		{"upper case", nil, "LOG: info\n", `parley.yaml line 1: LOG: is not a setting; the nearest is log`},
		{"with the prefix", nil, "parley_log: info\n", `parley.yaml line 1: parley_log: is not a setting; the nearest is log`},
		{"key twice", nil, "log: info\nlog: warn\n", `parley.yaml|twice`},
		{"nested", nil, "sip:\n  addr: :5060\n", `parley.yaml line 1: sip: is not a setting`},
		{"map as value", nil, "asr: {name: openai}\n", `parley.yaml line 1: asr: has parts of its own; allowed: one value`},
		{"not YAML", nil, "log: [info\n", `parley.yaml: yaml:`},
		{"a sentence", nil, "hello\n", `parley.yaml: is not a list of settings`},
		{"two documents", nil, "log: info\n---\nlog: warn\n", `parley.yaml: holds more than one document`},
		{"strange key", nil, "\"a\\nb\": 1\n", `parley.yaml line 1: "a\nb": is not a setting`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Sources{}
			for k, v := range tt.env {
				s.Env = append(s.Env, "PARLEY_"+k+"="+v)
			}
			if tt.file != "" {
				s.File = write(t, tt.file)
			}
			_, _, err := Load(s)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			line := err.Error()
			for i, part := range strings.Split(tt.want, "|") {
				if at := strings.Index(line, part); at < 0 || i == 0 && at != 0 {
					t.Errorf("%q lacks %q", line, part)
				}
			}
			if strings.ContainsAny(line, "\r\n") || len(line) > 300 {
				t.Errorf("not one short line: %q", line)
			}
			if strings.Contains(line, "hunter2") {
				t.Errorf("shows the secret: %q", line)
			}
		})
	}
}

// TestPaymentsFitTheCarrier: play money pays nobody real, and real money nothing that
// is played.
func TestPaymentsFitTheCarrier(t *testing.T) {
	for _, tt := range []struct {
		c     Config
		wrong string
	}{
		{Config{Payments: "simulated", Carrier: "simulated"}, ""},
		{Config{Payments: "simulated", Carrier: "none"}, ""},
		{Config{Payments: "simulated", Carrier: "real"}, "simulated payments"},
		{Config{Payments: "none", Carrier: "real"}, ""},
		{Config{Payments: "stripe", Carrier: "none", StripeKey: "sk_live_1", StripeWebhookSecret: "whsec_1"}, ""},
		{Config{Payments: "stripe", Carrier: "simulated", StripeKey: "sk_test_1", StripeWebhookSecret: "whsec_1"}, ""},
		{Config{Payments: "none", Carrier: "simulated", StripeKey: "rk_live_1"}, "a live key"},
	} {
		err := tt.c.checkPayments()
		if (err != nil) != (tt.wrong != "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s with %s: %v, want %q", tt.c.Payments, tt.c.Carrier, err, tt.wrong)
		}
	}
}

func TestMissingFileAndWrongFlag(t *testing.T) {
	_, _, err := Load(Sources{File: "/no/such.yaml"})
	if err == nil || err.Error() != "/no/such.yaml: cannot be read (no such file or directory); allowed: the path of a YAML file" {
		t.Errorf("got %v", err)
	}
	_, _, err = Load(Sources{Flags: map[string]string{"log": "loud"}, Env: []string{"PARLEY_LOG=info"}})
	if err == nil || !strings.HasPrefix(err.Error(), `--log: "loud" is not allowed`) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownVariablesWarn(t *testing.T) {
	_, warnings, err := Load(Sources{Env: []string{
		"PARLEY_SIPADDR=:5060", "PARLEY_LOGFORMAT=json", "PARLEY_URL=http://x", "PARLEY_API_KEY=k", "PARLEY_SOAK=1", "PARLEYLOG=1", "OTHER=1",
	}})
	want := []string{
		"PARLEY_LOGFORMAT is not a setting; the nearest is PARLEY_LOG_FORMAT",
		"PARLEY_SIPADDR is not a setting; the nearest is PARLEY_SIP_ADDR",
	}
	if err != nil || len(warnings) != 2 || warnings[0] != want[0] || warnings[1] != want[1] {
		t.Errorf("%q %v", warnings, err)
	}
}

func TestSecretsComeFromFilesAndStayHidden(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2hunter2hunter2hunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(Sources{
		Env:  []string{"PARLEY_SECRET_FILE=" + key, "PARLEY_DATABASE_URL=postgres://u:hunter2@db/x"},
		File: write(t, "llm_api_key_file: "+key+"\nsecret: overridden-by-the-environment-01234\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Secret != "hunter2hunter2hunter2hunter2hunter2" || c.LLM.APIKey != c.Secret {
		t.Errorf("secret %q, key %q", c.Secret, c.LLM.APIKey)
	}
	out := c.Print()
	if strings.Contains(out, "hunter2") || strings.Contains(out, "overridden") {
		t.Errorf("shows a secret:\n%s", out)
	}
	for _, line := range []string{`(?m)^secret: "\(secret\)" +# environment$`, `(?m)^tts_api_key: "" +# default$`, `(?m)^http_addr: ":8080" +# default$`} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line %s in\n%s", line, out)
		}
	}
}

// What Print writes is a valid file again.
func TestPrintedConfigurationLoads(t *testing.T) {
	c, _, err := Load(Sources{Env: []string{"PARLEY_NODE=n1", "PARLEY_SIP_ALLOW=10.0.0.0/8,192.0.2.7", "PARLEY_DEMO=on", "PARLEY_LLM_MODEL=a: \"b\" #c"}})
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Load(Sources{File: write(t, c.Print())})
	if err != nil {
		t.Fatal(err)
	}
	c.values, again.values, again.DataDirSet = nil, nil, false
	if !reflect.DeepEqual(c, again) {
		t.Errorf("%+v\n%+v", c, again)
	}
}

func TestSettingsPage(t *testing.T) {
	if *update {
		if err := os.WriteFile(settingsPage, []byte(settingsDocument()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(settingsPage)
	if err != nil || string(got) != settingsDocument() {
		t.Errorf("deploy/settings.md differs from the table of settings: run this test with -update (%v)", err)
	}
	for _, s := range Settings() {
		if n := strings.Count(string(got), "\n| `PARLEY_"+s.Name+"`"); n != 1 {
			t.Errorf("PARLEY_%s has %d rows", s.Name, n)
		}
	}
}

func TestExampleFile(t *testing.T) {
	if *update {
		if err := os.WriteFile(exampleFile, []byte(exampleDocument()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(exampleFile)
	if err != nil || string(got) != exampleDocument() {
		t.Errorf("deploy/parley.example.yaml differs from the table of settings: run this test with -update (%v)", err)
	}
	// Every key, put into force as it stands, is the default.
	text := regexp.MustCompile(`(?m)^#([a-z_]+: )`).ReplaceAllString(string(got), "$1")
	if n := len(regexp.MustCompile(`(?m)^[a-z_]+: `).FindAllString(text, -1)); n != len(Settings()) {
		t.Errorf("%d of %d settings in the example", n, len(Settings()))
	}
	c, _, err := Load(Sources{File: write(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	c.values, plain.values, c.DataDirSet = nil, nil, false
	if !reflect.DeepEqual(c, plain) {
		t.Errorf("%+v\n%+v", c, plain)
	}
}

// TestNamesOfTheCertificate: links lead to the first name, and SIP over TLS needs no certificate in files.
func TestNamesOfTheCertificate(t *testing.T) {
	load := func(env ...string) *Config {
		t.Helper()
		c, _, err := Load(Sources{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := load("PARLEY_TLS_DOMAIN=Voice.Example.com, talk.example.org", "PARLEY_SIP_TLS_ADDR=:5061")
	if !c.HTTPS() || !reflect.DeepEqual(c.TLSDomains, []string{"voice.example.com", "talk.example.org"}) || c.BaseURL != "https://voice.example.com" || !strings.HasPrefix(c.TLSDirectory, "https://") {
		t.Errorf("%v, %s, %s", c.TLSDomains, c.BaseURL, c.TLSDirectory)
	}
	if c = load("PARLEY_TLS_DOMAIN=voice.example.com", "PARLEY_BASE_URL=https://voice.example.com:8443/"); c.BaseURL != "https://voice.example.com:8443" {
		t.Error(c.BaseURL)
	}
	if c = load(); c.HTTPS() || c.BaseURL != "" {
		t.Errorf("without: %v, %s", c.HTTPS(), c.BaseURL)
	}
}

// TestOneWayToOtherNodes: NATS elsewhere, or a cluster with all that it needs.
func TestOneWayToOtherNodes(t *testing.T) {
	all := bus.Cluster{Listen: "127.0.0.1:0", Routes: []string{"127.0.0.1:6222"}, Cert: "c", Key: "k", CA: "a"}
	with := func(url string, change func(*bus.Cluster)) *Config {
		c := &Config{NATSURL: url, Cluster: all}
		change(&c.Cluster)
		return c
	}
	for wrong, c := range map[string]*Config{
		"":                                with("", func(*bus.Cluster) {}),
		"one of the two":                  with("nats://h", func(*bus.Cluster) {}),
		"it needs":                        with("", func(c *bus.Cluster) { c.Listen = "" }),
		"PARLEY_NATS_CLUSTER_ADDR needs":  with("", func(c *bus.Cluster) { c.CA = "" }),
		"is for PARLEY_NATS_CLUSTER_ADDR": with("", func(c *bus.Cluster) { *c = bus.Cluster{Key: "k"} }),
	} {
		err := c.checkCluster()
		if (err != nil) != (wrong != "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%+v: %v, want %q", c.Cluster, err, wrong)
		}
	}
}

// TestDemonstrationStaysHome: a demonstration listens on this machine alone, except where
// an address is set.
func TestDemonstrationStaysHome(t *testing.T) {
	for _, tt := range []struct{ env, http, sip string }{
		{"PARLEY_DEMO=on", "127.0.0.1:8080", "127.0.0.1:5060"},
		{"PARLEY_DEMO=off", ":8080", ":5060"},
		{"PARLEY_DEMO=on PARLEY_HTTP_ADDR=:8080", ":8080", "127.0.0.1:5060"},
		{"PARLEY_DEMO=on PARLEY_SIP_ADDR=:5060", "127.0.0.1:8080", ":5060"},
		{"PARLEY_DEMO=on PARLEY_SIP_ADDR=off", "127.0.0.1:8080", ""},
	} {
		c, _, err := Load(Sources{Env: strings.Fields(tt.env)})
		if err != nil || c.HTTPAddr != tt.http || c.SIPAddr != tt.sip {
			t.Errorf("%s: %q, %q, %v", tt.env, c.HTTPAddr, c.SIPAddr, err)
		}
	}
}
