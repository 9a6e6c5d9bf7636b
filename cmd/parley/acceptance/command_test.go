package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/billing"
)

// The exit statuses of every command.
const (
	done     = 0
	failed   = 1
	usage    = 2
	refused  = 3
	notFound = 4
)

// account is the answer of parley admin account show --json, as far as tests look.
type account struct {
	ID          string      `json:"account_id"`
	Key         string      `json:"api_key"`
	Email       string      `json:"email"`
	Balance     json.Number `json:"balance"`
	FirstTopup  *string     `json:"first_topup_at"`
	Concurrency *int        `json:"concurrency"`
	Suspended   bool        `json:"suspended"`
	Pots        struct{ Paid, Bonus json.Number }
}

// TestAdministration goes through the administration commands twice: while no
// server runs, and beside one. Between and after, --demo starts.
func TestAdministration(t *testing.T) {
	t.Parallel()
	dir := noDataDir(t)
	serve(t, dir, nil).stop(t) // makes the database
	administerStopped(t, dir)
	s := serve(t, dir, nil, "--demo")
	administerMistakes(t, dir, administer(t, dir, "+34910000001"))
	checkVerifyFindsFaults(t, s)
	s.stop(t)
	again := serve(t, dir, nil, "--demo")
	checkDemo(t, again, s.guide)
	again.stop(t)
	checkBooks(t, dir)
}

// administerStopped is for a few commands alone: each starts the cluster, where no server runs, and stops it.
func administerStopped(t *testing.T, dir string) {
	t.Helper()
	var a account
	admin(t, dir, &a, "account", "create", "--name", "Casa Mia")
	admin(t, dir, &struct{}{}, "account", "credit", a.ID, "20", "--kind", "topup")
	admin(t, dir, &a, "account", "show", a.ID)
	if a.Balance != "25" {
		t.Errorf("show: %+v", a)
	}
	checkBooks(t, dir)
}

// administer goes through the life of an account and returns its identifier.
func administer(t *testing.T, dir, number string) (id string) {
	t.Helper()
	var a account
	admin(t, dir, &a, "account", "create", "--name", "Casa Lola", "--email", "lola@example.com")
	if !strings.HasPrefix(a.ID, "acc_") || a.Email != "lola@example.com" || !strings.HasPrefix(a.Key, "sk_") || a.Balance != "5" {
		t.Fatalf("created %+v", a)
	}
	administerMoney(t, dir, a.ID)
	administerKeys(t, dir, a.ID)
	administerAgents(t, dir, a.ID, number)
	administerDoNotCall(t, dir, a.ID)
	var shown account
	admin(t, dir, &shown, "account", "show", a.ID)
	if shown.Key != "" {
		t.Error("a key is shown again")
	}
	checkBooks(t, dir)
	return a.ID
}

func administerMoney(t *testing.T, dir, id string) {
	t.Helper()
	for _, tt := range []struct {
		args    []string
		balance json.Number
		applied bool
	}{
		{[]string{"20", "--kind", "topup"}, "25", true},
		{[]string{"0.123456789", "--kind", "bonus"}, "25.123456789", true},
		{[]string{"--kind", "adjustment", "--", "-1.5"}, "23.623456789", true},
		{[]string{"1", "--kind", "topup", "--key", "once-" + id}, "24.623456789", true},
		{[]string{"1", "--kind", "topup", "--key", "once-" + id}, "24.623456789", false},
	} {
		var answer struct {
			Balance json.Number
			Applied bool
		}
		admin(t, dir, &answer, append([]string{"account", "credit", id}, tt.args...)...)
		if answer.Balance != tt.balance || answer.Applied != tt.applied {
			t.Errorf("credit %v: %+v", tt.args, answer)
		}
	}
	var a account
	admin(t, dir, &a, "account", "set", id, "--concurrency", "7", "--suspended=true")
	if a.Concurrency == nil || *a.Concurrency != 7 || !a.Suspended {
		t.Errorf("set: %+v", a)
	}
	if a.Email != "lola@example.com" {
		t.Errorf("set something else: %+v", a)
	}
	admin(t, dir, &struct{}{}, "account", "set", id, "--concurrency", "0", "--suspended=false", "--email", "casa@example.com")
	admin(t, dir, &a, "account", "show", id)
	if a.Balance != "24.623456789" || a.FirstTopup == nil || a.Concurrency != nil || a.Suspended || a.Email != "casa@example.com" || a.Pots.Paid != "19.5" || a.Pots.Bonus != "5.123456789" {
		t.Errorf("show: %+v", a)
	}
}

func administerKeys(t *testing.T, dir, id string) {
	t.Helper()
	var key struct {
		ID     string
		APIKey string `json:"api_key"`
	}
	admin(t, dir, &key, "key", "create", "--account", id, "--name", "website")
	admin(t, dir, &struct{}{}, "key", "revoke", "--account", id, key.ID)
	o := do(t, command(dir, nil, "admin", "key", "list", "--account", id, "--json"))
	var list struct {
		Keys []struct {
			ID, Name, Last4 string
			RevokedAt       *string `json:"revoked_at"`
		}
	}
	if err := json.Unmarshal([]byte(o.out), &list); err != nil || len(list.Keys) != 2 {
		t.Fatalf("key list: %v %s", err, o.out)
	}
	for _, k := range list.Keys {
		if (k.ID == key.ID) != (k.RevokedAt != nil) || k.ID == key.ID && (k.Name != "website" || !strings.HasSuffix(key.APIKey, k.Last4)) {
			t.Errorf("key list: %+v", k)
		}
	}
	if strings.Contains(o.out, key.APIKey) || secretText.MatchString(o.out) {
		t.Error("key list shows a secret")
	}
}

func administerAgents(t *testing.T, dir, id, number string) {
	t.Helper()
	type agent struct {
		ID, Name, Voice, Language, Prompt string
		FirstMessage                      string `json:"first_message"`
		Version                           int
	}
	var a, shown agent
	admin(t, dir, &a, "agent", "create", "--account", id, "--name", "Lola", "--voice", "m2", "--prompt", "We are open.", "--first-message", "Hello!")
	if !strings.HasPrefix(a.ID, "ag_") || a.Voice != "M2" || a.Language != "en" || a.Version != 1 {
		t.Errorf("agent create: %+v", a)
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte("voice: F3\nsettings: {idle_seconds: 20}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, dir, &a, "agent", "update", "--account", id, a.ID, "--file", file, "--name", "Lola the second")
	admin(t, dir, &shown, "agent", "show", a.ID)
	if shown != a || a.Voice != "F3" || a.Name != "Lola the second" || a.Prompt != "We are open." || a.FirstMessage != "Hello!" || a.Version != 2 {
		t.Errorf("agent update: %+v, shown %+v", a, shown)
	}
	administerVersions(t, dir, id, a.ID)
	type owned struct {
		Number string  `json:"phone_number"`
		Agent  *string `json:"agent_id"`
	}
	var n owned
	admin(t, dir, &n, "number", "add", "--account", id, number, "--agent", a.ID)
	if n.Number != number || n.Agent == nil || *n.Agent != a.ID {
		t.Errorf("number add: %+v", n)
	}
	o := do(t, command(dir, nil, "admin", "number", "add", "--account", id, number))
	if o.status != failed || !strings.Contains(o.errOut, "in use") {
		t.Errorf("a number that is taken: exit status %d, %s", o.status, o.errOut)
	}
	if o := do(t, command(dir, nil, "admin", "agent", "delete", "--account", "acc_nobody", a.ID)); o.status != notFound {
		t.Errorf("an agent of another account: %d %s", o.status, o.errOut)
	}
	admin(t, dir, &struct{}{}, "agent", "delete", a.ID)
	var list struct{ Numbers []owned }
	admin(t, dir, &list, "number", "list", "--account", id)
	if len(list.Numbers) != 1 || list.Numbers[0].Agent != nil {
		t.Errorf("number list: %+v", list)
	}
	admin(t, dir, &struct{}{}, "number", "remove", "--account", id, number)
	admin(t, dir, &list, "number", "list", "--account", id)
	if len(list.Numbers) != 0 {
		t.Errorf("number list after remove: %+v", list)
	}
}

// administerVersions: what an agent is goes out as a file and comes in again, with all that
// is wrong with it named; what it was can be had back.
func administerVersions(t *testing.T, dir, account, id string) {
	t.Helper()
	if o := do(t, command(dir, nil, "admin", "agent", "schema")); o.status != 0 || !json.Valid([]byte(o.out)) || !strings.Contains(o.out, "2020-12") {
		t.Errorf("agent schema: exit status %d: %.200s%s", o.status, o.out, o.errOut)
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("promt: x\nvoice: Z9\nfirst_message: 'Hi {{who}}'\nsettings: {min_endpoint_ms: 50, variables: {city: Rome}}\n")
	o := do(t, command(dir, nil, "admin", "agent", "update", "--account", account, id, "--file", file))
	if want := `promt: is not known; settings.min_endpoint_ms: 50, allowed are 100 to 2000; voice: "Z9", must be one of F1 to F5 and M1 to M5; ` +
		"first_message: there is no variable {{who}}; add it to settings.variables"; o.status == 0 || !strings.Contains(o.errOut, want) {
		t.Errorf("a file with mistakes: exit status %d: %s, want %s", o.status, o.errOut, want)
	}
	write("first_message: 'Hi {{city}}'\nprompt: |\n  One.\n  Two.\nsettings:\n  speed: 1.5\n  variables: {city: Rome}\n  knowledge: [{title: Menu, text: Soup}]\n")
	var changed, again, restored struct {
		Voice, Prompt string
		FirstMessage  string `json:"first_message"`
		Settings      json.RawMessage
		Version       int
	}
	admin(t, dir, &changed, "agent", "update", "--account", account, id, "--file", file)
	o = do(t, command(dir, nil, "admin", "agent", "export", id))
	if o.status != 0 || !strings.Contains(o.out, "city: Rome") {
		t.Errorf("agent export: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	write(o.out)
	admin(t, dir, &again, "agent", "update", "--account", account, id, "--file", file)
	if changed.Version != 3 || again.Version != 3 || // what comes in again changes nothing
		again.Prompt != "One.\nTwo.\n" || again.FirstMessage != "Hi {{city}}" || string(again.Settings) != string(changed.Settings) {
		t.Errorf("a file that goes out and comes in again: %+v, was %+v", again, changed)
	}
	var list struct{ Versions []struct{ Version int } }
	admin(t, dir, &list, "agent", "versions", "--account", account, id)
	admin(t, dir, &restored, "agent", "restore", "--account", account, id, "1")
	if len(list.Versions) != 3 || list.Versions[0].Version != 3 || restored.Version != 4 || restored.Voice != "M2" || restored.Prompt != "We are open." {
		t.Errorf("versions %+v, restored %+v", list, restored)
	}
}

func administerDoNotCall(t *testing.T, dir, id string) {
	t.Helper()
	type entry struct{ Number, Reason, Source string }
	var e entry
	admin(t, dir, &e, "do-not-call", "add", "--account", id, "+34 612-345-678", "--reason", "wrote to us")
	var list struct{ Numbers []entry }
	admin(t, dir, &list, "do-not-call", "list", "--account", id)
	if want := (entry{"+34612345678", "wrote to us", "operator"}); e != want || len(list.Numbers) != 1 || list.Numbers[0] != want {
		t.Errorf("do-not-call add: %+v, list: %+v", e, list)
	}
	admin(t, dir, &struct{}{}, "do-not-call", "remove", "--account", id, "+34612345678")
	admin(t, dir, &list, "do-not-call", "list", "--account", id)
	if len(list.Numbers) != 0 {
		t.Errorf("do-not-call list after remove: %+v", list)
	}
}

// administerMistakes checks exit statuses, and that a mistake is one line on
// standard error and nothing on standard output.
func administerMistakes(t *testing.T, dir, id string) {
	t.Helper()
	for _, tt := range []struct {
		args   []string
		status int
		word   string
	}{
		{[]string{"account", "show", "acc_nobody"}, notFound, "not found"},
		{[]string{"account", "topups", "acc_nobody"}, notFound, "not found"},
		{[]string{"account", "set", "acc_nobody", "--suspended"}, notFound, "not found"},
		{[]string{"account", "credit", "acc_nobody", "1", "--kind", "topup"}, notFound, "not found"},
		{[]string{"key", "revoke", "--account", id, "key_nobody"}, notFound, "not found"},
		{[]string{"key", "list", "--account", "acc_nobody"}, notFound, "not found"},
		{[]string{"agent", "show", "--account", id, "ag_nobody"}, notFound, "not found"},
		{[]string{"agent", "show", "ag_nobody"}, notFound, "not found"},
		{[]string{"agent", "update", "ag_nobody", "--name", "X"}, notFound, "not found"},
		{[]string{"agent", "delete", "ag_nobody"}, notFound, "not found"},
		{[]string{"agent", "create", "--account", "acc_nobody", "--name", "X"}, notFound, "not found"},
		{[]string{"number", "remove", "--account", id, "+34919999999"}, notFound, "not found"},
		{[]string{"do-not-call", "remove", "--account", id, "+34612345678"}, notFound, "not found"},
		{[]string{"do-not-call", "add", "--account", id, "612345678"}, usage, "number"},
		{[]string{"account", "create"}, usage, "name"},
		{[]string{"account", "create", "--name", " "}, usage, "name"},
		{[]string{"account", "create", "--name", "X", "--email", "X <x@example.com>"}, usage, "mail address"},
		{[]string{"account", "set", id, "--email", "nobody"}, usage, "mail address"},
		{[]string{"account", "show"}, usage, "arg"},
		{[]string{"account", "credit", id, "much", "--kind", "topup"}, usage, "amount"},
		{[]string{"account", "credit", id, "-3", "--kind", "topup"}, usage, "flag"},
		{[]string{"account", "credit", id, "1", "--kind", "gift"}, usage, "gift"},
		{[]string{"account", "set", id, "--concurrency", "-1"}, usage, "concurrency"},
		{[]string{"agent", "create", "--account", id, "--name", "X", "--voice", "Z1"}, usage, "F1 to F5"},
		{[]string{"agent", "create", "--account", id, "--name", "X", "--language", "ko"}, usage, "must be one of en es ca gl eu pt fr it de"},
		{[]string{"agent", "create", "--account", id, "--name", "X", "--file", "/nonexistent.yaml"}, failed, "nonexistent"},
		{[]string{"number", "add", "--account", id, "12"}, usage, "number"},
	} {
		o := do(t, command(dir, nil, append([]string{"admin"}, append(tt.args[:len(tt.args):len(tt.args)], "--json")...)...))
		line := strings.TrimSpace(o.errOut)
		line = line[strings.LastIndexByte(line, '\n')+1:]
		if o.status != tt.status || !strings.Contains(line, tt.word) || !strings.HasPrefix(line, "parley: ") || o.out != "" {
			t.Errorf("%v: exit status %d, want %d: %q, printed %q", tt.args, o.status, tt.status, line, o.out)
		}
	}
}

// checkVerifyFindsFaults breaks a balance and mends it again.
func checkVerifyFindsFaults(t *testing.T, s *server) {
	t.Helper()
	checkBooks(t, s.dir)
	b := openBooks(t, s)
	defer b.close()
	for _, tt := range []struct{ sign, want string }{{"+", "broken"}, {"-", ""}} {
		_, err := b.sql.Exec(b.ctx, "update wallets set paid_nano = paid_nano "+tt.sign+" 1 where account_id = (select min(account_id) from wallets)")
		if err != nil {
			t.Fatal(err)
		}
		status, v := verify(t, s.dir)
		if broken := tt.want != ""; (status == failed) != broken || v.OK == broken || (len(v.Violations) > 0) != broken {
			t.Errorf("after %s1: exit status %d, %+v", tt.sign, status, v)
		}
	}
}

// checkDemo compares a second start's demonstration with the first's.
func checkDemo(t *testing.T, s *server, first demo) {
	t.Helper()
	if s.guide != first || first.key == "" || first.agent == "" || first.number == "" {
		t.Errorf("the second start has not the demonstration of the first: %+v", s.guide.agent)
	}
	b := openBooks(t, s)
	defer b.close()
	var id string
	var accounts, agents, numbers, calls, batches, topups int
	var sum billing.Money
	err := b.sql.QueryRow(b.ctx, `with d as (select id from accounts where name = 'Demonstration')
		select (select max(id) from d), (select count(*) from d), (select count(*) from agents where account_id in (select id from d)),
			(select count(*) from numbers where account_id in (select id from d)),
			(select count(*) from calls where account_id in (select id from d)), (select count(*) from campaigns where account_id in (select id from d)),
			count(*), coalesce(sum(amount_nano), 0) from ledger_transfers where kind = 'topup' and account_id in (select id from d)`).
		Scan(&id, &accounts, &agents, &numbers, &calls, &batches, &topups, &sum)
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Topups []struct {
			ID                       string `json:"topup_id"`
			Provider, Payment, State string
		}
	}
	admin(t, s.dir, &listed, "account", "topups", id)
	if len(listed.Topups) != 1 || listed.Topups[0].Provider != "demonstration" || listed.Topups[0].Payment != "" || listed.Topups[0].State != "succeeded" {
		t.Fatalf("the top-ups are %+v", listed)
	}
	if o := do(t, command(s.dir, nil, "admin", "account", "refund", id, listed.Topups[0].ID, "1")); o.status != usage || !strings.Contains(o.errOut, "no payment behind it") {
		t.Errorf("its refund: exit status %d: %s", o.status, o.errOut)
	}
	if accounts != 1 || agents != 2 || numbers != 2 || calls != 3 || batches != 1 || topups != 1 || sum != 20*billing.USD {
		t.Errorf("%d accounts, %d agents, %d numbers, %d calls, %d batches, %d top-ups of %s in all", accounts, agents, numbers, calls, batches, topups, sum)
	}
	c := connect(t, s, s.guide.key, s.guide.agent)
	c.awaitStatus("prompt_set")
	c.hangUp()
}

// TestRateCardReload changes the prices while a conversation goes on: it pays by
// the card it began with, the next one by the new card.
func TestRateCardReload(t *testing.T) {
	t.Parallel()
	builtIn, err := os.ReadFile("../../../billing/ratecard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "card.yaml")
	write := func(replacements ...string) *billing.RateCard {
		t.Helper()
		text := strings.NewReplacer(replacements...).Replace(string(builtIn))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		card, err := billing.ParseRateCard([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return card
	}
	old := write()
	m := newModel()
	t.Cleanup(m.Close)
	s := serve(t, newDataDir(t), append(m.env(), "PARLEY_RATE_CARD="+path))
	who := newCustomer(t, s, "10")
	first := connect(t, s, who.key, who.agent)
	first.awaitStatus("prompt_set")
	// Other prices under the same version are refused, and those in force stay.
	write("platform_per_minute: 0.08", "platform_per_minute: 0.8")
	s.signal(t, syscall.SIGHUP)
	eventually(t, "the card is refused", func() bool { return strings.Contains(s.text(), "reload failed") })
	dear := write("platform_per_minute: 0.08", "platform_per_minute: 0.8", "version: "+old.Version(), "version: 2090-01-01.1")
	s.signal(t, syscall.SIGHUP)
	eventually(t, "the new card is in force", func() bool {
		_, body := s.get(t, "http", "/v1/pricing")
		return strings.Contains(body, dear.Version())
	})
	second := connect(t, s, who.key, who.agent)
	second.awaitStatus("listening")
	first.hangUp()
	second.hangUp()
	b := openBooks(t, s)
	list := b.closed(who.account, 2)
	b.checkAmountBy(old, list[0])
	b.checkAmountBy(dear, list[1])
	checkBooks(t, s.dir)
}

// TestRefusedCommands has the client commands refused: billing and what does not
// exist have exit statuses of their own.
func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "")
	admin(t, s.dir, &struct{}{}, "account", "credit", who.account, "--kind", "adjustment", "--", "-4.9")
	clip := "../../../testdata/speech/opening-hours.wav"
	for _, tt := range []struct {
		key, agent string
		status     int
		word       string
	}{
		{who.key, who.agent, refused, "balance"},
		{who.key, "ag_nobody", notFound, "no such agent"},
		{"sk_wrong", who.agent, failed, "key"},
	} {
		env := []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + tt.key}
		o := do(t, command(t.TempDir(), env, "talk", "--agent", tt.agent, "--in", clip))
		if o.status != tt.status || !strings.Contains(strings.ToLower(o.errOut), tt.word) {
			t.Errorf("talk: exit status %d, want %d: %s", o.status, tt.status, o.errOut)
		}
		if strings.Contains(o.out+o.errOut, tt.key) {
			t.Error("talk prints the key")
		}
	}
	for number, code := range map[string]string{who.number: "480", "+34919999999": "404"} {
		o := do(t, command(t.TempDir(), nil, "phone", "sip:"+number+"@"+s.addrs["sip"], "--in", clip))
		if o.status != failed || !strings.Contains(o.errOut, code) {
			t.Errorf("phone %s: exit status %d: %s", number, o.status, o.errOut)
		}
	}
}
