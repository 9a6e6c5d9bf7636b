package calls

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// callList are the calls of a CSV file.
type callList struct {
	path string
	rows []wire.NewRow
	line []int // of each row
	// others are the names of the columns that the command does not know, by their place, and fields
	// each row's.
	others map[int]string
	fields [][]string
}

// maxFaults is how many wrong lines are listed: enough to see what is wrong.
const maxFaults = 20

// maxPeople bounds the file, in bytes.
const maxPeople = 4 << 20

// readPeople reads a file, "-" for standard input. All its wrong lines are listed at once.
func readPeople(cmd *cobra.Command, path string) (*callList, error) {
	in, err := server.OpenInput(cmd, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := &callList{path: path}
	text := bufio.NewReader(io.LimitReader(in, maxPeople))
	r := csv.NewReader(text)
	r.Comma = separator(text)
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, r.Comma != '\t' // or it would take empty fields for space
	columns := map[string]int{"to": 0}
	var faults []error
	for first := true; ; first = false {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		at, _ := r.FieldPos(0)
		if first {
			fields[0] = strings.TrimPrefix(fields[0], "\ufeff") // as spreadsheets begin a file
			if named := header(fields); named != nil {
				columns = named
				p.others = unknown(fields)
				continue
			}
		}
		row, err := rowOf(fields, columns)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", path, at, err))
			continue
		}
		p.rows, p.line, p.fields = append(p.rows, row), append(p.line, at), append(p.fields, fields)
	}
	switch {
	case len(faults) > maxFaults:
		faults = append(faults[:maxFaults], fmt.Errorf("and %d lines more", len(faults)-maxFaults))
	case len(faults) == 0 && len(p.rows) == 0:
		return nil, command.UsageError(path + ": there is nobody to call")
	}
	if len(faults) > 0 {
		texts := make([]string, len(faults))
		for i, f := range faults {
			texts[i] = f.Error()
		}
		return nil, errors.New(strings.Join(texts, "; "))
	}
	return p, nil
}

// separator is what stands between the columns: a comma, or what spreadsheets write where
// numbers have the comma.
func separator(in *bufio.Reader) rune {
	start, _ := in.Peek(4096) // of a shorter file all; who reads it meets the error
	line, _, _ := bytes.Cut(start, []byte("\n"))
	for _, sep := range ",;\t" {
		if bytes.ContainsRune(line, sep) {
			return sep
		}
	}
	return ','
}

// repeated tells of numbers that stand in several lines: each line is a call.
func (p *callList) repeated(w io.Writer) {
	first, told := map[string]int{}, 0
	for i, row := range p.rows {
		number := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, row.To)
		at, again := first[number]
		switch {
		case !again:
			first[number] = p.line[i]
		case told < maxFaults:
			told++
			fmt.Fprintf(w, "%s:%d: the number of line %d again, which is called twice\n", p.path, p.line[i], at)
		}
	}
}

// columnNames are those that the command knows, as people write them.
var columnNames = map[string]string{"to": "to", "phone": "to", "number": "to", "scheduled_at": "scheduled_at", "from": "from", "agent_id": "agent_id", "agent": "agent_id"}

// unknown are the columns of other names.
func unknown(header []string) map[int]string {
	others := map[int]string{}
	for i, f := range header {
		if f = strings.TrimSpace(f); f != "" && columnNames[strings.ToLower(f)] == "" {
			others[i] = f
		}
	}
	return others
}

// personal gives each row the values of the columns that are called like variables of its agent or like headers of
// calls, and tells of other columns. agent speaks where the file does not say who.
func (p *callList) personal(q *server.Request, agent string) error {
	if len(p.others) == 0 {
		return nil
	}
	agents, used := map[string]map[string]string{}, map[string]bool{}
	for i := range p.rows {
		id := cmp.Or(p.rows[i].AgentID, agent)
		known, asked := agents[id]
		if !asked && id != "" {
			var err error
			if known, err = q.AgentVariables(q.Ctx, id); err != nil {
				return err
			}
			agents[id] = known
		}
		for at, name := range p.others {
			if at >= len(p.fields[i]) {
				continue
			}
			value := strings.TrimSpace(p.fields[i][at])
			if _, has := known[name]; has {
				used[name] = true
				setIn(&p.rows[i].Vars, name, value)
			} else if _, header := wire.HeaderName(name); header {
				used[name] = true
				if value != "" {
					setIn(&p.rows[i].Headers, name, value)
				}
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(p.others)) {
		if name := p.others[at]; !used[name] {
			fmt.Fprintf(q.ErrOrStderr(), "%s: column %q is no variable of the agent and no header of calls, and is ignored\n", p.path, name)
		}
	}
	return nil
}

// setIn sets a value in a map that may not be there yet.
func setIn[M ~map[string]string](m *M, name, value string) {
	if *m == nil {
		*m = M{}
	}
	(*m)[name] = value
}

// header reads the first line as the columns' names; nil: it is none.
func header(fields []string) map[string]int {
	columns := map[string]int{}
	for i, f := range fields {
		if name, ok := columnNames[strings.ToLower(strings.TrimSpace(f))]; ok {
			if _, twice := columns[name]; !twice {
				columns[name] = i
			}
		}
	}
	if _, ok := columns["to"]; !ok {
		return nil
	}
	return columns
}

// written is how people and spreadsheets write numbers.
var written = regexp.MustCompile(`^\+?[0-9][0-9 .()-]{5,30}$`)

// international is a number with its plus, which spreadsheets take for a sign; those
// that do not hide it behind an apostrophe.
func international(s string) (string, error) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "'")
	if rest, ok := strings.CutPrefix(s, "00"); ok {
		s = "+" + rest
	}
	switch {
	case s == "":
		return "", errors.New("no number")
	case !written.MatchString(s):
		return "", fmt.Errorf("%q is no telephone number", s)
	case s[0] != '+':
		s = "+" + s
	}
	return s, nil
}

func rowOf(fields []string, columns map[string]int) (row wire.NewRow, err error) {
	field := func(name string) string {
		if i, ok := columns[name]; ok && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	if row.To, err = international(field("to")); err != nil {
		return row, err
	}
	if from := field("from"); from != "" {
		if row.From, err = international(from); err != nil {
			return row, fmt.Errorf("from: %w", err)
		}
	}
	row.AgentID = field("agent_id")
	if text := field("scheduled_at"); text != "" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return row, fmt.Errorf("scheduled_at: %q is no time with its zone, such as 2026-11-23T10:00:00+01:00", text)
		}
		row.ScheduledAt = &text
	}
	return row, nil
}

var inRow = regexp.MustCompile(`^rows\[(\d+)\]`)

// explain says in which line of the file a row is that the server refuses.
func (p *callList) explain(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	m := inRow.FindStringSubmatch(refused.Detail)
	if m == nil {
		return err
	}
	if i, fault := strconv.Atoi(m[1]); fault == nil && i < len(p.line) {
		return fmt.Errorf("%s:%d: %w", p.path, p.line[i], err)
	}
	return err
}
