//! temp temp temp temp temp.
use windlass_domain::Secret; use windlass_policy::Redactor;
fn main(){ let s=[Secret::new("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")]; let r=Redactor::new(&s);
 for unit in ["a", "sk-a1b2c3", "eyJ-", "://a:", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\\", "\\", "\\u004", "Authorization: ", "xoxb-", "\\nghp_"] {
  let text=unit.repeat(4_000_000/unit.len());
  let t=std::time::Instant::now(); let n=r.redact(&text).len(); let a=t.elapsed();
  let t=std::time::Instant::now(); let mut st=r.stream(); let mut o=vec![]; for p in text.as_bytes().chunks(997){st.push(p,&mut o);} st.finish(&mut o); println!("{unit:?} {a:?} {:?} {n}",t.elapsed());
 }}
