//! The bipartite form: probes against the objects of a structure.

use broadphase::{Aabb, Frame, Live, Pair, PairStore, Probes, Real, Tag};

use crate::data::{Layout, Random};
use crate::script::{Run, Table, Tell};
use crate::subjects::{Trial, in_every_space};
use broadphase_testing::naive as oracle;

const N: usize = 300;

/// Probes without ids: (index of the probe, id of the object), boxes only, whatever the frame's filters say.
fn probes_meet_what_they_touch<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(61);
        for layout in Layout::ALL {
            let mut boxes = layout.boxes(&mut random, N);
            subject.fit(&mut boxes);
            let mut table: Table<D, T> = Table::new(boxes);
            (0..N as u32).step_by(7).for_each(|id| table.remove(id));
            table.settle();
            let frame = table.frame(subject, Tell::All);
            let mut run = Run::new(subject);
            run.step(&frame, "the frame");
            let probes: Vec<Aabb<D, T>> = layout.boxes(&mut random, 130);
            for probes in [&probes[..], &probes[..1], &[], &[Aabb::everything()]] {
                let mut store = PairStore::default();
                let asked = Probes { boxes: probes, ids: None, recurring: false };
                run.structure.probe(&frame, asked, &mut run.context, &mut store).unwrap();
                let each = (0..probes.len() as u32).flat_map(|a| frame.ids().map(move |b| Pair { a, b }));
                let expected: Vec<_> =
                    each.filter(|p| oracle::touch(&probes[p.a as usize], &table.boxes[p.b as usize])).collect();
                oracle::assert_holds(&store, &expected, &format!("{layout:?}, {} probes", probes.len()));
            }
            // Probes change nothing: the next frame still builds on the last one.
            run.step(&frame, "the frame after the probes");
        }
    });
}

/// Probes with ids are objects of the same tables: pairs are canonical and filtered.
fn probes_with_ids_are_objects_and_filtered<const D: usize, T: Real>(trial: &mut Trial) {
    trial.each(|subject| {
        let mut random = Random(62);
        let mut boxes: Vec<Aabb<D, T>> = Layout::Lattice.boxes(&mut random, N);
        subject.fit(&mut boxes);
        let tags: Vec<Tag> = (0..N).map(|_| Tag::new(1 << random.below(2), 1 << random.below(2) | 2)).collect();
        let ids: Vec<u32> = (0..N as u32).filter(|id| id % 3 == 1).collect();
        let mut words = [0u64; N.div_ceil(64)];
        (0..N).filter(|id| id % 3 != 1).for_each(|id| words[id / 64] |= 1 << (id % 64));
        let probes: Vec<_> = ids.iter().map(|&id| boxes[id as usize]).collect();
        for tags in [None, Some(&tags[..])] {
            let frame = Frame { live: Live::Bits(&words), tags, ..subject.frame(&boxes) };
            let mut run = Run::new(subject);
            run.step(&frame, "the frame");
            let mut store = PairStore::default();
            let asked = Probes { boxes: &probes, ids: Some(&ids), recurring: false };
            run.structure.probe(&frame, asked, &mut run.context, &mut store).unwrap();
            let mut expected: Vec<_> = ids.iter().flat_map(|&a| frame.ids().map(move |b| (a, b))).collect();
            expected.retain(|&(a, b)| oracle::meet(&frame, a, b));
            let mut expected: Vec<_> = expected.into_iter().map(|(a, b)| Pair::new(a, b)).collect();
            expected.sort_unstable();
            oracle::assert_holds(&store, &expected, &format!("with {} tags", tags.map_or(0, <[_]>::len)));
        }
    });
}

in_every_space!(probes_meet_what_they_touch, probes_with_ids_are_objects_and_filtered);
