package acceptance

import (
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// step is one of a workflow, as far as it is run here.
type step struct {
	Name string            `yaml:"name"`
	If   string            `yaml:"if"`
	Run  string            `yaml:"run"`
	Env  map[string]string `yaml:"env"`
}

// workflow is what the documentation has for agents in git.
type workflow struct {
	Env  map[string]string `yaml:"env"`
	Jobs map[string]struct {
		Steps []step `yaml:"steps"`
	} `yaml:"jobs"`
}

var workflowText = regexp.MustCompile(`(?s)<pre[^>]* aria-label="A workflow of GitHub Actions"[^>]*><code>(.*?)</code></pre>`)

// readWorkflow reads it from the server's own page.
func readWorkflow(t *testing.T, s *server) (w workflow) {
	t.Helper()
	resp, err := http.Get("http://" + s.addrs["http"] + "/docs/management") // pages are in no document that client(t) knows
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	m := workflowText.FindSubmatch(page)
	if err != nil || m == nil {
		t.Fatalf("%d, %v: no workflow", resp.StatusCode, err)
	}
	if err := yaml.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// checkout is a directory with an agent and its test case, as a build server has it, and the secrets of its repository.
type checkout struct {
	dir    string
	w      workflow
	values *strings.Replacer // of secrets and variables
}

// run runs the commands of the workflow up to the one that fails, whose name it returns with what it printed.
func (c *checkout) run(t *testing.T) (broken, output string, ran []string) {
	t.Helper()
	for _, job := range c.w.Jobs {
		for _, s := range job.Steps {
			if s.Run == "" {
				continue
			}
			if s.If != "" && s.If != "github.ref == 'refs/heads/main'" {
				t.Fatalf("%s: this test knows no condition %q", s.Name, s.If)
			}
			cmd := exec.Command("sh", "-e", "-c", s.Run)
			cmd.Dir = c.dir
			cmd.Env = append(settings(c.dir), "PATH="+filepath.Dir(parley)+":"+os.Getenv("PATH"), "HOME="+c.dir)
			for _, env := range []map[string]string{c.w.Env, s.Env} {
				for name, value := range env {
					cmd.Env = append(cmd.Env, name+"="+c.values.Replace(value))
				}
			}
			ran = append(ran, s.Name)
			if o := do(t, cmd); o.status != done {
				return s.Name, o.out + o.errOut, ran
			}
		}
	}
	return "", "", ran
}

// TestWorkflow runs the workflow of the documentation for agents in git: it tries an agent, pushes it and promotes it. A draft
// that does not come to what is expected goes nowhere.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	staging, production := newCustomer(t, s, "20"), newCustomer(t, s, "")
	c := &checkout{dir: t.TempDir(), w: readWorkflow(t, s), values: strings.NewReplacer("${{ secrets.STAGING_KEY }}", staging.key, "${{ secrets.PRODUCTION_KEY }}", production.key,
		"${{ vars.STAGING_AGENT }}", staging.agent, "${{ vars.PRODUCTION_AGENT }}", production.agent)}
	if got, want := c.w.Env["PARLEY_URL"], "http://"+s.addrs["http"]; got != want {
		t.Errorf("the workflow asks %s, and this is %s", got, want)
	}
	agent := checkedOut(t, "agent.yaml", filepath.Join(c.dir, "lola.yaml"))
	checkedOut(t, "opening-hours.yaml", filepath.Join(c.dir, "cases", "opening-hours.yaml"))
	prompts := func() (of [2]string) {
		for i, x := range []customer{staging, production} {
			_, text := ask(t, s, x.key, "/v1/agents/"+x.agent)
			of[i] = string(text)
		}
		return of
	}
	if broken, output, ran := c.run(t); broken != "" || len(ran) != 6 {
		t.Fatalf("%q were run; %s: %s", ran, broken, output)
	}
	for i, text := range prompts() {
		if !strings.Contains(text, "Casa Lola, a restaurant") {
			t.Errorf("agent %d is still %s", i, text)
		}
	}
	before := prompts()
	if err := os.WriteFile(filepath.Join(c.dir, "lola.yaml"), []byte(strings.Replace(agent, "We are open from nine to six.", "Come any time.", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	broken, output, _ := c.run(t)
	if broken != "Simulate the draft" || !strings.Contains(output, "FAIL  opening hours") {
		t.Errorf("%q failed: %s", broken, output)
	}
	if report, err := os.ReadFile(filepath.Join(c.dir, "draft.xml")); err != nil || !strings.Contains(string(report), "<failure") {
		t.Errorf("the report: %v: %s", err, report)
	}
	if prompts() != before {
		t.Error("a draft that failed was pushed")
	}
}

// checkedOut puts a file of testdata/simulate elsewhere, and returns its text.
func checkedOut(t *testing.T, name, to string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../testdata/simulate", name))
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
