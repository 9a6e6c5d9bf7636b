package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store/private"
)

const (
	// programPatience is for a program that was asked to end.
	programPatience = 5 * time.Second
	// maxComplaint bounds what is kept of what a program says; its last words count.
	maxComplaint = 8 << 10 // bytes
)

// run runs one of PostgreSQL's programs on the database. in and out may be nil.
func (d Database) run(ctx context.Context, program string, args []string, in io.Reader, out io.Writer) error {
	env, err := d.environment()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // EndWithParent follows the thread
	defer runtime.UnlockOSThread()
	said := &tail{}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, "/", in, out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C on our terminal is for us, and we pass it on
	private.EndWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = programPatience
	err = cmd.Run()
	if o, ok := out.(*output); ok && o.err != nil {
		return o.err // the program only noticed that nobody listens any more
	}
	if err != nil {
		return because(ctx, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, said))
	}
	return nil
}

// parameters are those of a database's URL that PostgreSQL's programs also know, by
// the name of their variable. Others are for our own connections.
var parameters = map[string]string{
	"sslmode": "PGSSLMODE", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslrootcert": "PGSSLROOTCERT", "sslcrl": "PGSSLCRL",
	"sslnegotiation": "PGSSLNEGOTIATION", "sslsni": "PGSSLSNI", "channel_binding": "PGCHANNELBINDING", "require_auth": "PGREQUIREAUTH",
	"krbsrvname": "PGKRBSRVNAME", "gssencmode": "PGGSSENCMODE", "target_session_attrs": "PGTARGETSESSIONATTRS",
	"connect_timeout": "PGCONNECT_TIMEOUT", "options": "PGOPTIONS",
}

// environment says where the database is, and its password, to a program.
func (d Database) environment() ([]string, error) {
	cfg, err := pgx.ParseConfig(d.URL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err) // pgx blanks the password
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return nil, errors.New("the database URL cannot be read") // the error shows all of it
	}
	env := private.Environment()
	if !d.Private {
		env = env[:0]
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "PARLEY_") && !strings.HasPrefix(e, "LC_") {
				env = append(env, e)
			}
		}
		env = append(env, "LC_ALL=C.UTF-8")
	}
	// With several hosts pgx lists all of them, and each again per try of TLS.
	hosts, ports := []string{cfg.Host}, []string{strconv.Itoa(int(cfg.Port))}
	for _, f := range cfg.Fallbacks {
		port := strconv.Itoa(int(f.Port))
		if last := len(hosts) - 1; f.Host != hosts[last] || port != ports[last] {
			hosts, ports = append(hosts, f.Host), append(ports, port)
		}
	}
	env = append(env, "PGHOST="+strings.Join(hosts, ","), "PGPORT="+strings.Join(ports, ","), "PGUSER="+cfg.User, "PGDATABASE="+cfg.Database)
	if cfg.Password != "" {
		env = append(env, "PGPASSWORD="+cfg.Password)
	}
	for name, variable := range parameters {
		if v := u.Query().Get(name); v != "" {
			env = append(env, variable+"="+v)
		}
	}
	return env, nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	t.b = t.b[max(0, len(t.b)-maxComplaint):]
	return len(b), nil
}

// String is the last line that speaks of an error, else the last one.
func (t *tail) String() string {
	b := bytes.TrimSpace(t.b)
	if len(b) == 0 {
		return "it gave no reason"
	}
	lines := strings.Split(string(b), "\n")
	for _, l := range slices.Backward(lines) {
		if strings.Contains(l, "error:") {
			return l
		}
	}
	return lines[len(lines)-1]
}
