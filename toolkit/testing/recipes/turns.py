"""Recipes for turn boundaries (`docs/semantics.md` B) and selectors (S)."""

RECIPES = r"""
B1 | the offer stands for the whole turn
row N mcp.late.bell source=mcp:late; go; list mcp:late N; call mcp.late.bell; pass; call mcp.late.bell; go
call mcp.late.bell

B1 | two turns over one world have one offer
turn; turn; go; find $qa; call $A; turn

B1 | what is found does not change the offer
go; find $qa; call $A; pass; call $B; enter s; turn

B2 | a new catalog waits for the boundary
row A2 $A like=A deferred=false; go; list mcp:$S A2; call $A; turn

B2 | another scope or policy waits for the boundary
each W 'scope $BP' 'role $SP' 'policy $R=deny'
with scope $BP $SP; go; call $R; policy $A=deny; pass; call $A; turn

B2 | another selector waits for the boundary
each F all lazy builtin-only; each T lazy deferred all
with selector $F; go; selector $T; call $C; go; call $C

B2 | no selector any more waits for the boundary
with selector all; go; selector -; call $A; go; call $A

B2 H5 | a hide waits for the boundary
go; hide $X $C; call $C; turn

B3 | a denial counts at once for calls and searches
go; find $qa; policy $A=deny $R=deny; search $qa; call $A; call $R; search $qb

B3 | a narrower scope counts at once
each O scope role
go; $O $TP; call $R; call $C; search $qa; search $qd

B3 | a widening of the policy waits
with policy $R=deny $A=deny; go; policy; call $R; search $qa; go; call $R; search $qa

B3 | a widening of the scope waits
with scope $TP; go; scope; call $R; search $qa; go; call $R; search $qa

B3 | what is denied in mid-turn stays declared in the prompt
go; policy $R=deny; call $R; enter s; go; call $R

B4 | a server that goes in mid-turn, and comes back
go; down $T; call $C; up $T; call $C

B4 | a server that is gone at the boundary is not offered
go; down $T; call $C; go; call $C; up $T; call $C; go; call $C

B4 | no search answers what is gone
go; find $qa; down $S; search $qb; call $A; up $S; call $A; search $qb

B4 | a tool that is no longer listed
go; find $qa; list mcp:$S B; search $qa; call $A; list mcp:$S A B; call $A; search $qa

B4 | a tool that is no longer listed leaves at the boundary
go; list mcp:$T; call $C; go; call $C

B4 | a tool of an unloaded extension
go; unload $X; call $E; turn

B4 | a tool flagged otherwise is still listed
row C2 $C like=C deferred=true; go; list mcp:$T C2 D; call $C; turn

B5 | declared is in canonical order whatever was listed first
once; each O 'b a B' 'B b a' 'a B b'; each S all deferred
only; row a a; row b b; row B B; list builtin *$O; tool ä source=mcp:s; tool z.z source=mcp:s; with selector $S; turn

B5 | core tools come first
with ui; with selector all; turn

B5 | another order of the list changes nothing
with selector all; turn; list mcp:$S B A; list mcp:$T D C; turn

B5 | another order of the selector's names changes nothing
with script mine returns '{"declared":["$E","$C","$A","$R"],"searchable":["$B"]}'; turn

B6 | a refreshed definition that is equal keeps its bytes
with selector all; row A1 $A like=A schema=need; row A2 $A like=A schema=deen
list mcp:$S A1 B; turn; list mcp:$S B A2; turn

B6 | a definition equal to one of an earlier turn keeps its bytes
with selector all; row C1 $C like=C schema=need; row C2 $C like=C schema=deen
list mcp:$T C1; turn; list mcp:$T; turn; list mcp:$T C2; turn

B6 | a definition that changes in mid-turn waits and is reported
row C1 $C like=C schema=need; row C2 $C like=C schema=quay; list mcp:$T C1; go; list mcp:$T C2
call $C bay=1; call $C quay=x; go; call $C bay=1; call $C quay=x; turn

B6 | a description that changes in mid-turn waits and is reported
row C2 $C like=C description=Otherwise.; go; list mcp:$T C2 D; pass; call $C; turn; turn

B6 | a definition that changes between turns is not reported
row C2 $C like=C schema=quay; turn; end; list mcp:$T C2; go; call $C

B6 | a change to what is not offered is not reported
with selector builtin-only; row C2 $C like=C schema=quay; turn; list mcp:$T C2; turn

B6 | a found tool is judged by what the model was told
row A1 $A like=A schema=need; row A2 $A like=A schema=quay; list mcp:$S A1; go; find $qa; list mcp:$S A2
call $A bay=1; go; find $qa; call $A bay=1; call $A quay=x

B7 | resuming keeps the declared bytes
turn; resume; turn

B7 | resuming keeps what was found, in mid-turn
go; find $qa; resume; call $A; call $R; pass; call $A

B7 | resuming keeps what waits for the boundary
go; hide $X $R; resume; call $R; resume; go; call $R

B7 | resuming finds nothing and reports nothing
with scope * zzz; turn; resume; go; call $A; turn

B8 | denied and allowed again within a turn
go; policy $R=deny; call $R; policy; call $R

B8 | permitted means at the boundary too
with policy $R=deny; go; policy $R=allow; call $R; policy $R=ask; call $R

B8 | ask at the boundary, allowed now, and the other way
with policy $R=ask; go; policy; call $R; policy $C=ask; call $C; call $R

B8 A3 | a step's boundary counts too
go; policy $R=deny; enter s; policy; call@s $R; call $R

B9 | a call between turns is the host's error
call $R; search $qa; pass; step s; turn; end; call $R; pass; end

B9 | a call before the first pass is the host's error
turn; call $R; search $qa; pass; call $R

B9 | a step that is not open is the host's error
go; pass@x; call@x $R; search@x $qa; end x; enter s; end s; call@s $R; pass@s; enter@s t; call $R

B9 | an open step's id is taken
go; enter s; enter s $BP; call@s $C; end s; enter s $BP; call@s $C

B9 | the definition of tools.search does not depend on the catalog
turn; list mcp:$S B; turn; list mcp:$T; turn

S1 | without a selector, what is flagged deferred is searchable
go; call $A; call $C; find $qa; call $A

S1 | a changed flag counts at the next boundary
row C2 $C like=C deferred=true; row A2 $A like=A deferred=false; turn; list mcp:$T C2 D; list mcp:$S A2 B; turn

S1 | nothing deferred, nothing to search
only R W C; turn

S2 | a selector costs one trip a turn, and one a step
with selector lazy; turn; turn; enter s; enter@s t

S2 | a trip counts even when nothing is searchable
only R W; each S all lazy builtin-only; with selector $S; turn; step s

S2 S7 | a trip counts when the selector fails
with script mine raises broken; turn; step s

S2 | the selector is given the told set
with selector all; hide $X $R; with policy $C=deny; turn

S3 | names outside the told set are dropped and reported
with script mine returns '{"declared":["$R","no.such"],"searchable":["$A","$AU"]}'; turn; turn

S3 | a hidden tool's name is outside the told set
with script mine returns '[["$R","$W"],["$A"]]'; hide $X $W; go; call $W; call $C

S3 | duplicates collapse, on both lists means declared
with script mine returns '{"declared":["$A","$R","$A"],"searchable":["$R","$B","$B","$A"]}'; turn

S3 | on neither list means withheld
with script mine returns '{"declared":["$R"],"searchable":["$A"]}'; go; call $C; search $qc; call $B; pass; call $C

S4 | deferred is a default, not a lock
with selector all; go; call $A; call $B

S4 | a selector may defer what is not flagged
with script mine returns '[["$A"],["$R","$C"]]'; go; call $A; call $R; find $qc; call $C

S4 S9 | lazy declares a deferred builtin tool
tool builtin.nap deferred=true description=Snores.; with selector lazy; go; call builtin.nap

S5 | tools.search is declared exactly when something is searchable
each S lazy all builtin-only deferred; with selector $S; turn

S5 | whatever the selector says of it
each V '[["tools.search","$R"],[]]' '[["$R"],["tools.search"]]' '[["$R"],["$A"]]' '[[],["$A","tools.search"]]'
with script mine returns '$V'; turn

S5 | no tool is stranded when policy denies tools.search
each P tools.search 'tools.*'; with policy $P=deny; go; call $A; search $qa; turn

S5 | no tool is stranded when tools.search is hidden
hide $X tools.search; go; call $A; search $qa; show $X tools.search; turn

S6 | the ui tools are core tools, deferred from the start
each S deferred all lazy builtin-only; with ui; with selector $S; turn

S6 | without the ui tools their names are unknown
go; call ui.show; call ui_hide; search ui.show limit=1; turn

S6 Q6 | a ui tool is found like others
with ui; go; call ui.hide id=a; find ui.hide limit=1; call ui.hide id=a

S6 C1 | tools.search is in every catalog
only R; go; call tools.search query=x; search x

S7 | an answer that is not two lists of names falls back to the default
once; each V null 7 '"$R"' '[]' '[["$R"]]' '[["$R"],[],[]]' '{"declared":["$R"]}' '["$R","$A"]' '[[1],[]]' '{}'
with script mine returns '$V'; turn

S7 | a selector that raises falls back, and the turn goes on
with script mine raises broken; go; call $R; find $qa; call $A; turn

S7 | a selector that recovers is asked again
with script mine raises broken; turn; selector lazy; turn; selector mine; turn

S8 | an unregistered name fails at the start
once; each N lasy Lazy builtin_only al lazy2
with selector '$N'; has lazy all builtin-only

S9 | lazy declares builtin tools and makes the rest searchable
with selector lazy; go; call $R; call $C; find $qc; call $C

S9 | builtin-only withholds the rest
with selector builtin-only; go; call $R; call $C; search $qc

S9 | all declares everything
with selector all; go; call $A; call $E; search $qa

S9 | lazy goes by names, whatever the flags
row R2 $R like=R deferred=true; row W2 $W like=W deferred=true; list builtin R2 W2; with selector lazy; go; call $R
"""
