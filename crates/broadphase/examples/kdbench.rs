//! local
use broadphase::*;
#[repr(C)]
struct Ts(i64, i64);
unsafe extern "C" {
    fn clock_gettime(c: i32, t: *mut Ts) -> i32;
}
fn cpu() -> f64 {
    let mut t = Ts(0, 0);
    unsafe {
        clock_gettime(3, &mut t);
    }
    t.0 as f64 * 1e3 + t.1 as f64 * 1e-6
}
struct R(u64);
impl R {
    fn u(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f32) / (1u64 << 24) as f32
    }
    fn s(&mut self) -> f32 {
        self.u() * 2.0 - 1.0
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let scene = &a[1];
    let n: usize = a[2].parse().unwrap();
    let spec = &a[3];
    let frames: usize = a.get(4).map_or(12, |s| s.parse().unwrap());
    let threads: usize = a.get(5).map_or(1, |s| s.parse().unwrap());
    let mut r = R(1);
    let mut c: Vec<[f32; 3]>;
    let w;
    match scene.as_str() {
        "brownian" | "rest" => {
            w = (50.0 * n as f32).cbrt();
            c = (0..n).map(|_| [r.u() * w, r.u() * w, r.u() * w]).collect();
        }
        _ => {
            let m = (n as f32).cbrt().ceil() as usize;
            let sp = (1.0f32 / 0.65).cbrt();
            w = m as f32 * sp;
            c = Vec::new();
            for i in 0..n {
                let (x, y, z) = (i % m, i / m % m, i / m / m);
                c.push([x as f32 * sp + r.s() * 0.3, y as f32 * sp + r.s() * 0.3, z as f32 * sp + r.s() * 0.3]);
            }
            for i in (1..n).rev() {
                let j = (r.u() * (i + 1) as f32) as usize;
                c.swap(i, j.min(i));
            }
        }
    }
    let _ = w;
    let sp: Spec = spec.parse().unwrap();
    let mut st: Box<dyn BroadPhase<3, f32>> = sp.build().unwrap();
    let mut ctx = Context::new().with_kernels(sp.kernels()).with_timing();
    if threads > 1 {
        ctx = ctx.with_executor(Threads::new(threads).unwrap());
    }
    let mut out = PairStore::default();
    let base = c.clone();
    let mut best = f64::MAX;
    let mut bs = Vec::new();
    let mut first = 0.0;
    let mut all = Vec::new();
    for f in 0..frames {
        for (i, p) in c.iter_mut().enumerate() {
            match scene.as_str() {
                "brownian" => {
                    for k in 0..3 {
                        p[k] += r.s() * 0.15;
                    }
                }
                "rest" => {}
                "settled" => {
                    if i % 10 == 0 {
                        for k in 0..3 {
                            p[k] = base[i][k] + r.s() * 0.15;
                        }
                    }
                }
                _ => {
                    for k in 0..3 {
                        p[k] = base[i][k] + r.s() * 0.15 + 0.05 * f as f32;
                    }
                }
            }
        }
        let b: Vec<Aabb<3, f32>> = c.iter().map(|p| Aabb::from_center(*p, [0.5; 3])).collect();
        ctx.clear_stages();
        let t = cpu();
        step(&mut *st, &Frame::new(&b), &mut ctx, &mut out).unwrap();
        let e = cpu() - t;
        all.push(e);
        if f == 0 {
            first = e
        } else if e < best {
            best = e;
            bs = ctx.stages().to_vec();
        }
    }
    all.remove(0);
    all.sort_by(|a, b| a.total_cmp(b));
    println!(
        "{spec} {scene} n={n}: first {first:.2} min {best:.3} med {:.3} ms = {:.1} ns/obj pairs {} tests/obj {:.1}",
        all[all.len() / 2],
        best * 1e6 / n as f64,
        out.len(),
        out.tests() as f64 / n as f64
    );
    println!(
        "   {}",
        bs.iter().map(|(s, d)| format!("{s} {:.1}ns", d.as_secs_f64() * 1e9 / n as f64)).collect::<Vec<_>>().join(", ")
    );
    let x = st.stats();
    println!(
        "   bytes/obj {:.0} {:?}",
        x.bytes as f64 / n as f64,
        x.extra
            .iter()
            .filter(|e| !e.0.starts_with("leaves at"))
            .map(|(a, b)| format!("{a}={b:.2}"))
            .collect::<Vec<_>>()
            .join(" ")
    );
}
