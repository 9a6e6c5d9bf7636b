package agents

import (
	"encoding/xml"
	"fmt"
	"strings"

	"parley/api/wire"
)

// The elements of a JUnit report that build servers read. Seconds are those of simulated time.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
		Skipped *junitSkipped `xml:"skipped"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// junit is a simulation as a JUnit report: its agent is the suite.
func junit(s *wire.SimulationDetail) ([]byte, error) {
	suite := junitSuite{Name: s.AgentID, Tests: len(s.Cases)}
	for _, c := range s.Cases {
		one := junitCase{Name: c.Name, Class: s.AgentID}
		ms, text := int64(0), ""
		for i := range c.Results {
			r := &c.Results[i]
			ms += r.LengthMS
			if !r.OK {
				text += fmt.Sprintf("run %d\n%s\n", r.Run, strings.Join(faults(r), "\n"))
			}
		}
		one.Time = fmt.Sprintf("%.3f", float64(ms)/1000)
		switch {
		case c.OK == nil:
			suite.Skipped++
			one.Skipped = &junitSkipped{Message: s.State}
		case !*c.OK:
			suite.Failures++
			one.Failure = &junitFailure{Message: fmt.Sprintf("%d of %d runs failed", c.Failed, c.Runs), Text: text}
		}
		suite.Cases = append(suite.Cases, one)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
