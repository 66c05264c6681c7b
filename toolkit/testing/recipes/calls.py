"""Recipes for searches (`docs/semantics.md` Q), calls (C), steps (A) and what stays in the history (T)."""

RECIPES = r"""
Q1 | an answer has all that a call needs
row A2 $A like=A schema=need; list mcp:$S A2; go; search $qa; has $A bay integer; pass; call $A bay=1

Q1 | only what is searchable is answered
go; search $qr; search $qc; search $qb

Q1 | a search is over the description too
go; find $da; call $A; search $db

Q1 Q5 | at most so many are answered
once; only; lamps n s w; each L 1 2 3 4
go; search lamp limit=$L; pass; call mcp.n.lamp; call mcp.s.lamp; call mcp.w.lamp

Q2 | a step with a narrower scope searches less
go; enter s $B; search@s $qa; search@s $qb; search $qa

Q2 | a role's scope narrows a search
role $A; go; search $qb; search $qa

Q2 B3 | a scope narrowed in mid-turn narrows a search
go; scope $B; search $qa; search $qb; scope; search $qa

Q3 | equal scores: names by code point
once; each O 'x y Z z' 'z x y Z' 'Z z y x'; each P 1 2; only; lamps *$O; go; search lamp; search lamp limit=$P

Q3 | equal scores: read-only tools first
once; each F k x z; only; lamps z b a; tool mcp.$F$F.lamp source=mcp:$F$F deferred=true readonly=true
tool mcp.m.lamp source=mcp:m deferred=true readonly=false; go; search lamp limit=2; search lamp

Q3 | the order of the list does not count
once; only; row a mcp.a.lamp source=mcp:a deferred=true; row b mcp.b.lamp source=mcp:b deferred=true
list mcp:b b; list mcp:a a; go; search lamp; list mcp:a; list mcp:b; turn; list mcp:a a; list mcp:b b; go; search lamp

Q4 | a tool that is named comes before any scored one
tool mcp.t.vat source=mcp:t deferred=true description='Boils copper kettles, brews tea.'
tool mcp.t.tall_lever source=mcp:t deferred=true
each Q 'tall_lever copper kettles' 'copper tallLever' 'brews kettles Tall-Lever copper'
go; search '$Q' limit=2; search '$Q' limit=1

Q4 | plain words in a longer query name nothing
tool mcp.t.vat source=mcp:t deferred=true description='Boils copper kettles, brews tea.'
tool mcp.t.tall source=mcp:t deferred=true; each Q 'boils copper kettles tall' 'tall: brews copper kettles (tea)'
go; search '$Q' limit=1; search tall limit=1

Q4 | case and separators are folded
once; only; tool mcp.web.fetch_page source=mcp:web deferred=true
each Q fetch_page 'Fetch Page' FETCH-PAGE 'now fetch.page' mcp__web__fetch_page mcp.web.fetch_page
go; find '$Q' limit=1; call mcp.web.fetch_page

Q4 | a full name finds its tool
go; find $A limit=1; call $A; search $B limit=1

Q5 | no match is an empty answer
each Q qwyx 'qwyx zzyv' '...'; go; search '$Q'; pass; call $A

Q5 | a blank query or one that is no text is invalid
once; each Q '' '   ' '=3' '=null' '=["a"]' '=true'; go; search '$Q'; pass; call $A

Q5 | a limit below one or not an integer is invalid
once; each L 0 -1 2.5 '"3"' true null; go; search $qa limit='$L'; pass; call $A

Q5 Q10 | the limit is five by default and twenty at most
once; each L 19 20 21 1000; only; lamps w v u t s r q p o n m l k j i h g f e d c b
go; search lamp; search lamp limit=$L; pass; call mcp.f.lamp; call mcp.g.lamp; call mcp.v.lamp; call mcp.w.lamp

Q6 | found from the pass after the search, until the turn ends
go; call $A; find $qa; call $A; pass; call $A; go; call $A

Q6 | found in a step, until the step ends
go; enter s; find@s $qa; call@s $A; end s; enter s; call@s $A

Q6 B1 | what is found does not join the declared list
go; find $qa; call $A; enter s; turn

Q6 | what is answered beyond the limit is not found
once; only; lamps b a; go; find lamp limit=1; call mcp.a.lamp; call mcp.b.lamp

Q7 | a call in the search's own pass does not follow it
go; search $qa; call $A; pass; call $A

Q7 | the lenient profile allows it
with same_pass allow; go; call $A; search $qa; call $A; call $B

Q7 | in a step as well
go; enter s; search@s $qa; call@s $A; pass@s; call@s $A

Q8 | a search that fails inside finds nothing, and the turn goes on
with failing boom; go; search boom; pass; call $A; call $R; find $A limit=1; call $A

Q8 | a search that fails leaves what was found
with failing boom; go; find $A limit=1; search boom; pass; call $A

Q9 | several searches in one turn add up
go; search $qa; search $qb; pass; call $A; call $B; find $qd; call $D; call $A

Q9 | a compaction does not undo them
go; find $qa; compaction; call $A; search $qb; compaction; pass; call $B; call $A

Q9 T1 | an empty answer does not undo the others
go; find $qa; find qwyx; call $A

Q10 | an answer tells how many matched in all
once; only; lamps a b; tool mcp.c.lamp source=mcp:c
go; search lamp limit=1; policy mcp.b.lamp=deny; search lamp limit=1

Q10 | an answer tells the declared tools that match
go; search $qr; search $qc; policy $C=deny; search $qc; down $T; search $qr

Q10 | an answer tells the words that no tool has
go; search "$qa qwyx"; has qwyx; search $qa

Q10 | an answer tells which sources are down
go; search $qa; down $S; search $qa; down unheard; search $qb; up $S; search $qa; up unheard; search $qa

Q10 | not of those whose tools the caller would not be told
hide $X $SP; with policy $TP=deny; down $S; down $T; tool x deferred=true; go; search qwyx

Q10 | not of those outside the caller's scope
go; down $T; down unheard; enter s $TP; enter t $SP; search@s qwyx; search@t qwyx; search qwyx

Q10 | a server without a known tool, only without any scope
with scope *; down unheard; go; search qwyx; scope; go; search qwyx

C1 | denied comes before hidden, hidden before gone
hide $X $C; go; call $C; down $T; call $C; policy $C=deny; call $C

C1 | hidden and denied at the boundary
hide $X $R; with policy $R=deny; go; call $R; policy; call $R

C1 | withheld comes before gone
with selector builtin-only; go; call $C; down $T; call $C

C1 | gone comes before not found yet
go; down $S; call $A; up $S; call $A

C1 | not found yet comes before the arguments
row A2 $A like=A schema=need; list mcp:$S A2; go; call $A; call $A bay=1; find $qa; call $A; call $A bay=1

C1 | the arguments come before ask
row R2 $R like=R schema=need; list builtin R2; with policy $R=ask; go; call $R; call $R bay=1

C1 | what is in no catalog is unknown, even when a scope would exclude it
with scope $BP; with policy no.*=deny; go; call no.such; call $C

C1 | a refusal by scope reads as unknown, one by policy does not
go; scope $BP; call $C; scope; policy $C=deny; call $C; scope $BP; call $C

C1 | arguments are judged by the schema
row R2 $R like=R schema=full; list builtin R2; each V bay=1 bay=0 bay=10 bay=1.5 bay=true 'bay="1"' mode=slow mode=no \
'tags=[]' 'tags=["a"]' 'tags=[1]' other=1; once; go; call $R '$V'

C1 | a call to tools.search is a search
go; call tools.search query=$qa; call $A; call tools.search; pass; call $A

C2 | a change between two calls of one pass
go; call $R; policy $R=deny; call $R; policy; call $R; down $T; call $C; up $T; call $C

C2 | the found set is the one at the pass's start
go; search $qa; call $A; search $qb; call $B; pass; call $A; call $B

C2 | what a hide changes is not for this pass
go; call $R; hide $X $R; call $R; pass; call $R

C3 | a refused call has no other effect
go; call $A; call no.such; pass; call $A; call $R; turn

C3 | a refused search finds nothing
go; search $qa limit=0; pass; call $A; policy tools.search=deny; search $qa; policy; pass; call $A

C3 | a call refused for its arguments may be repeated
row R2 $R like=R schema=need; list builtin R2; go; call $R; call $R bay=1; call $R bay=x; call $R bay=2

C4 | a refusal names no hidden tool
hide $X $C $A; go; call $CN; lacks $C; call $AN; lacks $A; search qwyx; lacks $A $C

C4 | a refusal names no tool that is withheld or denied
with selector builtin-only; with policy $W=deny; go; call $CN; lacks $C; call $WN; lacks $W; call $AN; lacks $A

C4 A1 | a refusal in a step names no tool outside its scope
go; enter s $BP; call@s $CN; lacks $C; call@s $AN; lacks $A

C5 | what cannot be read in a schema accepts anything
once; each P '{"type":"strange"}' '{"type":7}' '{"$$ref":"#/gone"}' '{"$$ref":"#/properties/bay"}'
row R2 $R like=R schema='{"type":"object","properties":{"bay":$P}}'; list builtin R2
go; call $R bay=1; call $R bay=x; call $R bay=null; call $R 'bay=[1]'

C5 | the rest of such a schema still counts
once; each P '{"type":"strange"}' '{"$$ref":"#/gone"}'
row R2 $R like=R schema='{"type":"object","properties":{"bay":$P,"mode":{"type":"string"}},"required":["mode"]}'
list builtin R2; go; call $R bay=1; call $R bay=1 mode=x; call $R mode=2

C5 | no schema accepts anything
each V none '{}' true; row R2 $R like=R schema=$V; list builtin R2; go; call $R; call $R bay=x

A1 | a step has its scope on top, and its own offer
go; enter s $A $R; call@s $R; call@s $W; call $W; find@s $qa; call@s $A

A1 | a step in a step narrows further
go; enter s $BP $SP; enter@s t $R $TP; call@t $R; call@t $W; call@t $C; call@s $W

A1 | the session's hides apply to a step
hide $X $R; go; enter s; call@s $R; search@s $qr

A1 | a step without scope has its parent's
with scope $BP; go; enter s; call@s $C; call@s $R

A1 S5 | a step whose scope leaves nothing to search has no search
go; enter s $BP; search@s $qa; call@s $R

A2 | found in a step is not found for parent or sibling
go; enter s; enter t; find@s $qa; pass; pass@t; call@s $A; call $A; call@t $A

A2 | found by the parent is not found for a step
go; find $qa; enter s; call@s $A; call $A; find@s $qa; call@s $A

A2 | found in a step's step is not found for the step
go; enter s; enter@s t; find@t $qa; pass@s; call@t $A; call@s $A

A3 | a step has the catalog of the main turn's boundary
row N mcp.late.bell source=mcp:late; go; list mcp:late N; list mcp:$T; enter s; call@s mcp.late.bell; call@s $C

A3 | a step has the selector of the main turn's boundary
with selector lazy; go; selector all; step s; go; step s

A3 | a step has the hides of the main turn's boundary
hide $X $R; go; show $X $R; hide $X $W; enter s; call@s $R; call@s $W

A3 | a step starts with what is permitted then and now
with policy $R=deny; go; policy $W=deny; enter s; call@s $R; call@s $W; call@s $C

A3 | a step's offer stands while its parent's permission changes
go; enter s; policy $R=deny; call@s $R; policy; call@s $R

A3 | a step ends with its parent
go; enter s; enter@s t; end s; call@t $R; enter u; go; call@u $R; enter v; end; pass@v

T1 | what a search answers stays in the history, not in the prompt
go; find $qa; call $A; turn; turn

T1 | a refused call changes no prompt
go; call $A; call no.such; search $qa limit=0; pass; enter s; turn

T1 | a call to a ui tool changes no offer
with ui; go; find ui.hide limit=1; call ui.hide id=$A; call ui_hide id=$R; pass; search $qa; turn

T2 | found in an earlier turn is not found in this one
go; find $qa; call $A; go; call $A; find $qa; call $A

T2 | however often it was found
go; find $qa; find $qa; go; go; call $A; compaction; call $A; resume; call $A

T2 | nor in a step of a later turn
go; find $qa; enter s; find@s $qb; go; enter s; call@s $A; call@s $B; call $A
"""
