package syntax

import (
	"math"
	"strconv"
	"strings"
)

// probeSpecifier parses
//
//	probe_specifier: PSPEC | INT
func (p *parser) probeSpecifier() *ProbeSpec {
	spec := &ProbeSpec{At: p.pos}
	switch p.tok {
	case PSPEC:
		p.describe(spec)
	case INT:
		p.identify(spec)
	default:
		p.unexpected()
	}
	p.next()
	return spec
}

// describe fills in a probe description: its macro variables are expanded, and
// its fields are counted from the last, which is what Config.Spec says.
func (p *parser) describe(spec *ProbeSpec) {
	fields := strings.Split(p.str, ":")
	for i, field := range fields {
		fields[i] = p.expandField(field)
	}
	spec.Text = strings.Join(fields, ":")
	if p.cfg.Spec == ByID {
		p.number(spec)
		return
	}
	n := p.cfg.Spec.fields()
	if len(fields) > n {
		p.fail(p.pos, "D_PDESC_INVAL", "invalid probe description %q: Overspecified probe description", p.str)
	}
	all := [4]string{}
	copy(all[n-len(fields):n], fields)
	spec.Provider, spec.Module, spec.Function, spec.Name = all[0], all[1], all[2], all[3]
}

// number takes a description for the ID that a macro variable has made of it.
func (p *parser) number(spec *ProbeSpec) {
	id, err := strconv.ParseUint(spec.Text, 10, 32)
	if err != nil || id == 0 {
		p.fail(p.pos, "D_PDESC_INVAL", "%q is not the ID of a probe, a number that -l shows; -n takes names", spec.Text)
	}
	spec.ID = int(id)
}

// expandField expands the macro variable at the end of a field, as in pid$target.
func (p *parser) expandField(field string) string {
	text, name, ok := strings.Cut(field, "$")
	if !ok {
		return field
	}
	name = strings.TrimPrefix(name, "$")
	valid := strings.Trim(name, identTail) == "" && name != "" &&
		(!isDigit(name[0]) || strings.Trim(name, "0123456789") == "")
	if valid {
		if value, err := p.macro(name, true); err == nil {
			return text + value
		}
	}
	p.fail(p.pos, "D_PDESC_INVAL", "invalid probe description %q: Undefined macro variable in probe description", p.str)
	return ""
}

// identify fills in a probe that is named by its ID.
func (p *parser) identify(spec *ProbeSpec) {
	spec.Text = p.text
	switch {
	case p.val > math.MaxUint32:
		p.fail(p.pos, "D_PDESC_INVAL", "identifier %d exceeds maximum probe id", p.val)
	case p.cfg.Spec != ByName && p.cfg.Spec != ByID:
		p.fail(p.pos, "D_PDESC_INVAL", "probe identifier %d not permitted when specifying %s", p.val, p.cfg.Spec)
	case p.val == 0:
		p.fail(p.pos, "D_PDESC_INVAL", "invalid probe identifier %d: Unknown probe identifier", p.val)
	}
	spec.ID = int(p.val)
}
